// How many tokens a text will be, before anybody has counted: careful on purpose, as a request that is too large fails.
import { callsOf, type Message, textOf } from '../../../shared/message'

/** Characters that make a token of prose; scripts without spaces count by `WIDE`. */
const CHARS_PER_TOKEN = 3.5
const WIDE_CHARS_PER_TOKEN = 1.3
/** What a message costs beside its words. */
export const MESSAGE_TOKENS = 8
/** What a picture costs with the models that see; they differ, and this is the upper end. */
const IMAGE_TOKENS = 1_600

export function estimateTokens(text: string): number {
  const wide = text.match(/[\u2e80-\uffef]/g)?.length ?? 0
  return Math.ceil((text.length - wide) / CHARS_PER_TOKEN + wide / WIDE_CHARS_PER_TOKEN)
}

export function estimateMessage(message: Message): number {
  const calls = callsOf(message).reduce((sum, c) => sum + estimateTokens(c.name + c.arguments) + MESSAGE_TOKENS, 0)
  const images = message.role === 'user' ? message.parts.filter((p) => p.type === 'image').length * IMAGE_TOKENS : 0
  const thinking =
    message.role === 'assistant' ? message.parts.reduce((sum, p) => sum + (p.type === 'thinking' ? estimateTokens(p.text) : 0), 0) : 0
  return estimateTokens(textOf(message)) + calls + images + thinking + MESSAGE_TOKENS
}
