// What the model and the person say to each other. Provider formats exist only inside the adapters of src/main/models.
import { z } from 'zod'

const TextPart = z.object({ type: z.literal('text'), text: z.string() })
/** `data` is base64. */
export const ImagePart = z.object({ type: z.literal('image'), mime: z.string(), data: z.string() })
const ThinkingPart = z.object({ type: z.literal('thinking'), text: z.string() })
/** `arguments` is the JSON text exactly as the model wrote it: it is replayed byte for byte, and parsed by the call pipeline only. */
const CallPart = z.object({ type: z.literal('call'), id: z.string().min(1), name: z.string(), arguments: z.string() })

/** Counts as the server reported them; a missing number is unknown, never zero. Durations in milliseconds. */
export const Usage = z.object({
  inputTokens: z.number().int().nonnegative().optional(),
  /** Of the input tokens, those that the provider still had from before: they are cheaper. */
  cachedInputTokens: z.number().int().nonnegative().optional(),
  outputTokens: z.number().int().nonnegative().optional(),
  loadMs: z.number().nonnegative().optional(),
  readMs: z.number().nonnegative().optional(),
  writeMs: z.number().nonnegative().optional(),
  /** US dollars, where the model has a price. */
  cost: z.number().nonnegative().optional()
})

/** An expected failure as a value: `code` for programs and catalogs, `message` for a reader of English. */
export const Fault = z.object({ code: z.string().min(1), message: z.string() })

/** Why the model stopped. `calls`: it wants tools; `length`: the token limit cut it; `interrupted`: Tau was ended while it wrote. */
const StopReason = z.enum(['stop', 'calls', 'length', 'aborted', 'error', 'interrupted'])

/** How words of the person got into a run that was going on: what kind they were, when they were said, and the turn that took them (spec Q5). */
const Said = z.object({ kind: z.enum(['steer', 'follow-up', 'interrupt']), at: z.number().int(), turn: z.number().int() })

export const UserMessage = z.object({
  role: z.literal('user'),
  parts: z.array(z.discriminatedUnion('type', [TextPart, ImagePart])),
  said: Said.optional()
})
export const AssistantMessage = z.object({
  role: z.literal('assistant'),
  parts: z.array(z.discriminatedUnion('type', [TextPart, ThinkingPart, CallPart])),
  model: z.string(),
  stopReason: StopReason,
  usage: Usage.optional(),
  error: Fault.optional()
})
/** Result of one call. `code` is `ok` or the reason why there is no ordinary result (spec T3). */
export const ToolMessage = z.object({
  role: z.literal('tool'),
  callId: z.string(),
  name: z.string(),
  code: z.string(),
  text: z.string(),
  images: z.array(ImagePart).optional(),
  /** Names the whole output where `text` is a part of it; `lookup_reference` brings it back. */
  ref: z.string().optional(),
  /** The text comes from beyond the workspace (a page, a server): a request marks it as data, and calls that follow from it are watched. */
  foreign: z.boolean().optional(),
  /** Milliseconds between dispatch and end; 0 when the call was never dispatched. */
  durationMs: z.number().nonnegative()
})
export const Message = z.discriminatedUnion('role', [UserMessage, AssistantMessage, ToolMessage])

export type ImagePart = z.infer<typeof ImagePart>
export type Usage = z.infer<typeof Usage>
export type Fault = z.infer<typeof Fault>
export type StopReason = z.infer<typeof StopReason>
export type CallPart = z.infer<typeof CallPart>
export type AssistantPart = AssistantMessage['parts'][number]
export type UserMessage = z.infer<typeof UserMessage>
export type AssistantMessage = z.infer<typeof AssistantMessage>
export type ToolMessage = z.infer<typeof ToolMessage>
export type Message = z.infer<typeof Message>

/** Calls of a message, in the order the model wrote them; none for users and tools. */
export const callsOf = (message: Message): CallPart[] =>
  message.role === 'assistant' ? message.parts.filter((p) => p.type === 'call') : []

/** The visible words of a message, without thinking and calls; what a person said in several messages that became one is set apart. */
export function textOf(message: Message): string {
  if (message.role === 'tool') return message.text
  const texts = message.parts.flatMap((p) => (p.type === 'text' ? [p.text] : []))
  return texts.join(message.role === 'user' ? '\n\n' : '')
}

/** Appends streamed text: the last part grows when it is of the same type, else a new part begins. Returns a new list. */
export function appendText(parts: readonly AssistantPart[], type: 'text' | 'thinking', delta: string): AssistantPart[] {
  const last = parts.at(-1)
  return last?.type === type ? [...parts.slice(0, -1), { type, text: last.text + delta }] : [...parts, { type, text: delta }]
}
