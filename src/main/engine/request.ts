// The body of /api/chat as the engine understands it. What Ollama knows and the engine does not (images, format, logprobs) is ignored, as
// Ollama ignores what it does not know.
import { isObject, type Json, numberIn, objectIn, objectsIn, stringIn } from '../../shared/json'
import type { Sampling } from './generate'
import type { WireMessage } from './prompt'
import { badRequest } from './refusal'

export interface ChatRequest {
  readonly model: string
  readonly messages: readonly WireMessage[]
  readonly tools: readonly Json[]
  readonly think: boolean | undefined
  readonly stream: boolean
  /** Tau's own: frames that tell what happens before the first word. */
  readonly phases: boolean
  readonly keepMs: number
  readonly window: number
  readonly limit: number
  readonly stops: readonly string[]
  /** What the request says of sampling; the rest comes from the model. */
  readonly sampling: Partial<Sampling>
}

const DEFAULTS = { keepMs: 5 * 60_000, window: 4_096 }

/** Throws a Refusal when the body makes no sense. */
export function readChatRequest(body: Json): ChatRequest {
  const model = stringIn(body, 'model') ?? ''
  if (model === '') throw badRequest('model is required')
  const options = objectIn(body, 'options')
  const window = numberIn(options, 'num_ctx')
  const limit = numberIn(options, 'num_predict') ?? -1
  return {
    model,
    messages: objectsIn(body, 'messages').map(readMessage),
    tools: objectsIn(body, 'tools'),
    think: typeof body['think'] === 'boolean' ? body['think'] : undefined,
    stream: body['stream'] !== false,
    phases: body['phases'] === true,
    keepMs: readDuration(body['keep_alive']) ?? DEFAULTS.keepMs,
    window: window === undefined || window < 1 ? DEFAULTS.window : Math.floor(window),
    limit: limit < 1 ? Infinity : Math.floor(limit),
    stops:
      typeof options['stop'] === 'string'
        ? [options['stop']]
        : Array.isArray(options['stop'])
          ? options['stop'].filter((s) => typeof s === 'string')
          : [],
    sampling: readSampling(options)
  }
}

/** Milliseconds of a number of seconds or of a text like `1h30m`; negative means for ever. Undefined for anything else. */
export function readDuration(value: unknown): number | undefined {
  if (typeof value === 'number') return value < 0 ? Infinity : value * 1_000
  if (typeof value !== 'string') return undefined
  if (/^-?\d+$/.test(value)) return readDuration(Number(value))
  if (!/^-?(\d+(\.\d+)?(ms|s|m|h))+$/.test(value)) return undefined
  if (value.startsWith('-')) return Infinity
  const units: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }
  return [...value.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)].reduce((sum, [, n, unit]) => sum + Number(n) * (units[unit ?? ''] ?? 0), 0)
}

function readMessage(message: Json): WireMessage {
  const content = message['content'] ?? ''
  if (typeof content !== 'string') throw badRequest('json: cannot unmarshal content: a string is expected')
  for (const call of objectsIn(message, 'tool_calls')) {
    const args = objectIn(call, 'function')['arguments']
    if (args !== undefined && !isObject(args)) throw badRequest('json: cannot unmarshal arguments: an object is expected')
  }
  return { ...message, role: (stringIn(message, 'role') ?? 'user').toLowerCase(), content }
}

function readSampling(options: Json): Partial<Sampling> {
  const seed = numberIn(options, 'seed')
  const all = {
    temperature: numberIn(options, 'temperature'),
    topP: numberIn(options, 'top_p'),
    topK: numberIn(options, 'top_k'),
    minP: numberIn(options, 'min_p'),
    repeatPenalty: numberIn(options, 'repeat_penalty'),
    repeatLastN: numberIn(options, 'repeat_last_n'),
    seed: seed === undefined || seed < 0 ? undefined : Math.floor(seed)
  }
  return Object.fromEntries(Object.entries(all).filter(([, v]) => v !== undefined))
}
