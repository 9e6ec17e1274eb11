// What the model will see (spec C3): the window less system, tools and the reserve for the answer is room for history, filled from the newest
// backwards in whole turns. Pure; its cost is bounded by the window, not by the length of the session (design §3.10).
import type { List } from '../../shared/list'
import { callsOf, type Message, textOf } from '../../shared/message'
import type { Entry } from '../../shared/session'
import type { ModelRequest, ToolSpec } from '../models/model'
import { validHistory } from './history'

export interface ContextInput {
  readonly system: string
  readonly messages: readonly Message[]
  readonly tools: readonly ToolSpec[]
  /** Tokens of the request and its answer together. */
  readonly window: number
}
export interface ContextReport {
  /** Estimated tokens of each part, and how many messages at the front were left out. */
  readonly system: number
  readonly tools: number
  readonly history: number
  readonly reserve: number
  readonly leftOut: number
}

/** Characters that make a token of prose; careful on purpose, a request that is too large fails. CJK counts by `WIDE`. */
const CHARS_PER_TOKEN = 3.5
const WIDE_CHARS_PER_TOKEN = 1.3
const MESSAGE_TOKENS = 8

export function buildContext(input: ContextInput): { request: ModelRequest; report: ContextReport } {
  const reserve = Math.max(128, Math.min(4_096, Math.floor(input.window / 4)))
  const system = estimateTokens(input.system) + MESSAGE_TOKENS
  const tools = estimateTokens(JSON.stringify(input.tools))
  const room = input.window - reserve - system - tools
  const start = firstThatFits(input.messages, room)
  const messages = validHistory(input.messages.slice(start))
  const history = messages.reduce((sum, m) => sum + messageTokens(m), 0)
  return {
    request: { system: input.system, messages, tools: input.tools, maxOutputTokens: reserve },
    report: { system, tools, history, reserve, leftOut: start }
  }
}

/**
 * Messages of a path, newest backwards, as many as a window could hold: what a run starts from. The builder cuts exactly; this only keeps a
 * run from carrying a history that no request of it could hold.
 */
export function newestMessages(path: List<Entry>, window: number): Message[] {
  const messages: Message[] = []
  let left = window
  for (let i = path.length - 1; i >= 0 && left >= 0; i--) {
    const message = (path.items[i] as Entry).message
    left -= messageTokens(message)
    messages.push(message)
  }
  return messages.reverse()
}

/** Index of the first message to send: a turn of the person, so that no call loses its result. The newest turn is always sent. */
function firstThatFits(messages: readonly Message[], room: number): number {
  let left = room
  let start = messages.findLastIndex((m) => m.role === 'user')
  if (start === -1) return 0
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i] as Message
    left -= messageTokens(message)
    if (left < 0) break
    if (message.role === 'user') start = Math.min(start, i)
  }
  return start
}

const sizes = new WeakMap<Message, number>() // messages never change, so a size is counted once

function messageTokens(message: Message): number {
  const known = sizes.get(message)
  if (known !== undefined) return known
  const calls = callsOf(message).reduce((sum, c) => sum + estimateTokens(c.name + c.arguments) + MESSAGE_TOKENS, 0)
  const size = estimateTokens(textOf(message)) + calls + MESSAGE_TOKENS
  sizes.set(message, size)
  return size
}

function estimateTokens(text: string): number {
  const wide = text.match(/[\u2e80-\uffef]/g)?.length ?? 0
  return Math.ceil((text.length - wide) / CHARS_PER_TOKEN + wide / WIDE_CHARS_PER_TOKEN)
}
