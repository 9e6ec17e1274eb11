// Names of tools as a provider takes them. MCP servers and plugins call their tools what they like; a provider that accepts letters, digits, `_` and
// `-` only refuses every request that holds another name (https://github.com/openai/codex/issues/8174). Names are mapped on the way out, in the
// list of tools and in the history alike, and back on the way in: the person and the pipeline only ever see the real ones.
import { hash } from 'node:crypto'
import { callsOf, type Message } from '../../shared/message'
import type { ModelEvent, NameRule, StreamFn } from './model'

/** What all providers known to us accept. */
export const PLAIN_NAMES = { pattern: /^[a-zA-Z0-9_-]{1,64}$/, length: 64 }

/**
 * A name that fits the rule. One that fits already stays; any other gets a digest of itself, so that two of them never meet and a name is always
 * mapped alike, whatever other tools there are.
 */
function providerName(name: string, rule: NameRule): string {
  if (rule.pattern.test(name)) return name
  const digest = hash('sha1', name).slice(0, 8)
  const plain = name.replaceAll(/[^a-zA-Z0-9_-]+/g, '_').slice(0, Math.max(1, rule.length - digest.length - 1))
  return `${plain}_${digest}`
}

/** The stream with names mapped both ways. Requests whose names all fit go through as they are. */
export const withProviderNames =
  (stream: StreamFn, rule: NameRule = PLAIN_NAMES): StreamFn =>
  (request, signal) => {
    const real = new Map<string, string>()
    const mapped = (name: string): string => {
      const other = providerName(name, rule)
      if (other !== name) real.set(other, name)
      return other
    }
    const tools = request.tools.map((tool) => ({ ...tool, name: mapped(tool.name) }))
    const foreign = request.messages.some((m) => namesIn(m).some((name) => !rule.pattern.test(name)))
    const messages = foreign ? request.messages.map((m) => renamed(m, mapped)) : request.messages
    if (real.size === 0) return stream(request, signal)
    return named(stream({ ...request, tools, messages }, signal), real)
  }

async function* named(events: AsyncIterable<ModelEvent>, real: ReadonlyMap<string, string>): AsyncGenerator<ModelEvent> {
  for await (const event of events) yield event.type === 'call' ? { ...event, name: real.get(event.name) ?? event.name } : event
}

const namesIn = (message: Message): string[] => (message.role === 'tool' ? [message.name] : callsOf(message).map((c) => c.name))

function renamed(message: Message, mapped: (name: string) => string): Message {
  if (message.role === 'tool') return { ...message, name: mapped(message.name) }
  if (message.role === 'user') return message
  return { ...message, parts: message.parts.map((p) => (p.type === 'call' ? { ...p, name: mapped(p.name) } : p)) }
}
