// From a path of the tree to a history that every provider accepts (design §3.5): each call has exactly one result, right after its message, in
// call order. What is missing (crash, abort, branch) is filled in with a result that says so; the stored entries are never rewritten.
import { callsOf, type Message, type ToolMessage } from '../../shared/message'

/** Pure; the result shares the messages that needed no change. */
export function validHistory(messages: readonly Message[]): Message[] {
  const valid: Message[] = []
  for (let i = 0; i < messages.length;) {
    const message = messages[i] as Message
    i++
    if (message.role === 'tool') continue // its call is gone: a result alone is refused by every provider
    if (message.role === 'user') {
      if (message.parts.some((p) => p.text.trim() !== '')) valid.push(message)
      continue
    }
    const calls = callsOf(message)
    const results = new Map<string, ToolMessage>()
    for (let next = messages[i]; next?.role === 'tool'; next = messages[++i]) if (!results.has(next.callId)) results.set(next.callId, next)
    const said = message.parts.filter((p) => p.type === 'call' || p.text.trim() !== '')
    if (!said.some((p) => p.type !== 'thinking')) continue // an empty turn (error, stop before the first word) says nothing to a model
    valid.push(said.length === message.parts.length ? message : { ...message, parts: said })
    for (const call of calls) valid.push(results.get(call.id) ?? missing(call.id, call.name))
  }
  return valid
}

const missing = (callId: string, name: string): ToolMessage => ({
  role: 'tool',
  callId,
  name,
  code: 'interrupted',
  text: 'This call was interrupted before it began. Nothing ran.',
  durationMs: 0
})
