// When even what must be sent is too large: the longest texts lose their middle, and say so. Beginning and end are kept, as a task stands at the
// beginning of what a person says and a verdict at the end of what a tool prints.
import type { Message } from '../../../shared/message'
import { estimateMessage, estimateTokens } from './estimate'

const LEAST_TOKENS = 64

/** `messages` within `room` tokens; the stored messages stay as they are. What cannot be cut (calls, pictures) stays, even beyond the room. */
export function shorten(messages: readonly Message[], room: number): Message[] {
  const short = [...messages]
  let excess = short.reduce((sum, m) => sum + estimateMessage(m), 0) - room
  while (excess > 0) {
    const longest = short.reduce((best, m, i) => (cuttable(m) > cuttable(short[best] as Message) ? i : best), 0)
    const message = short[longest] as Message
    const size = cuttable(message)
    if (size <= LEAST_TOKENS) break
    const cut = cutMiddle(message, Math.max(LEAST_TOKENS, size - excess - MARK_TOKENS))
    const saved = estimateMessage(message) - estimateMessage(cut)
    if (saved <= 0) break
    short[longest] = cut
    excess -= saved
  }
  return short
}

const MARK_TOKENS = 24

/** Tokens of the longest text in a message. */
const cuttable = (message: Message): number => Math.max(0, ...textsOf(message).map(estimateTokens))
const textsOf = (message: Message): string[] =>
  message.role === 'tool' ? [message.text] : message.parts.flatMap((p) => (p.type === 'text' || p.type === 'thinking' ? [p.text] : []))

function cutMiddle(message: Message, tokens: number): Message {
  if (message.role === 'tool') return { ...message, text: cutText(message.text, tokens) }
  const longest = textsOf(message).reduce((a, b) => (estimateTokens(b) > estimateTokens(a) ? b : a), '')
  const cut = <P extends { type: string; text?: string }>(p: P): P => (p.text === longest ? { ...p, text: cutText(longest, tokens) } : p)
  return message.role === 'user' ? { ...message, parts: message.parts.map(cut) } : { ...message, parts: message.parts.map(cut) }
}

function cutText(text: string, tokens: number): string {
  const chars = Math.floor((text.length * tokens) / Math.max(1, estimateTokens(text)))
  const head = Math.floor(chars * 0.6)
  const tail = chars - head
  const left = text.length - head - tail
  if (left <= 0) return text
  return `${text.slice(0, head).toWellFormed()}\n[… ${String(left)} characters left out here to fit the model's window …]\n${text.slice(text.length - tail).toWellFormed()}`
}
