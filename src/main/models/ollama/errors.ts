// What can go wrong between Tau and a server that speaks Ollama's protocol, as values with a code (docs/models.md lists them). Servers name
// the same fault in several ways: by status, by plain words, by JSON inside a JSON string; they are told apart here and nowhere else.
import type { ModelFault } from '../model'

export type ModelCode =
  | 'unreachable'
  | 'loading_timeout'
  | 'first_token_timeout'
  | 'idle_timeout'
  | 'aborted'
  | 'context_overflow'
  | 'out_of_memory'
  | 'crashed'
  | 'engine_crashed'
  | 'engine_stopped'
  | 'engine_unavailable'
  | 'bad_weights'
  | 'model_missing'
  | 'capability_missing'
  | 'busy'
  | 'refused'
  | 'bad_tool_output'
  | 'bad_request'
  | 'bad_answer'
  | 'incomplete_stream'

/** What the server said before or in the middle of its answer; `status` where there was one. */
export interface ServerComplaint {
  readonly status?: number
  readonly text: string
}

export const createFault = (code: ModelCode, message: string, retryable = RETRYABLE.has(code)): ModelFault => ({ code, message, retryable })

export const abortedFault = (): ModelFault => createFault('aborted', 'Stopped.')

/** The fault that a complaint about `model` means. */
export function classifyComplaint({ status, text }: ServerComplaint, model: string): ModelFault {
  const said = innerText(text)
  const overflow = /exceed_context_size|exceeds the (available )?context|context (length|size|window)/i.test(text)
  if (overflow) return createFault('context_overflow', overflowMessage(text))
  if (/out of memory|cudaMalloc|failed to allocate|unable to allocate|requires more system memory/i.test(said))
    return createFault(
      'out_of_memory',
      `There is not enough memory for ${model}. Close other programs or choose a smaller model. (${brief(said)})`
    )
  if (/unexpectedly stopped|process has terminated|no longer running|unexpected EOF|connection reset|EOF$/i.test(said) && status !== 400)
    return /tool call|invalid tool/i.test(said)
      ? badToolOutput(said)
      : createFault('crashed', `The model server broke down while it ran ${model}. Try again. (${brief(said)})`)
  if (/tool call|failed to parse input|XML syntax error|empty grammar stack|does not match the expected/i.test(said))
    return badToolOutput(said)
  if (status === 404 || /model .*not found/i.test(said))
    return createFault('model_missing', `The model ${model} is not installed. Choose another model, or install it and look again.`)
  if (/does not support/i.test(said)) return createFault('capability_missing', `${model} cannot do this: ${brief(said)}`)
  if (/unable to load model|may be incompatible|invalid magic|unknown model architecture/i.test(said))
    return createFault('bad_weights', `The file of ${model} cannot be loaded. Fetch it again or choose another model. (${brief(said)})`)
  if (status === 503 || status === 429 || /server busy/i.test(said))
    return createFault('busy', 'The model server is busy with other requests. Try again in a moment.')
  if (status === 401 || status === 403)
    return createFault(
      'refused',
      `The model server refused the request (${String(status)}). Check its address and its settings for allowed hosts.`
    )
  if (/timed out waiting/i.test(said)) return createFault('loading_timeout', `${model} did not load in time. (${brief(said)})`)
  if (status !== undefined && status >= 500) return createFault('crashed', `The model server failed (${String(status)}): ${brief(said)}`)
  // an error in the middle of an answer is no fault of the request
  if (status === undefined) return createFault('crashed', `The model server failed while it ran ${model}. Try again. (${brief(said)})`)
  return createFault('bad_request', `The model server did not accept the request: ${brief(said)}`)
}

/** `error` of a frame or body as text: a string, an object, or whatever else was there. */
export const complaintText = (error: unknown): string => (typeof error === 'string' ? error : JSON.stringify(error) || 'unknown error')

const RETRYABLE: ReadonlySet<ModelCode> = new Set([
  'unreachable',
  'first_token_timeout',
  'idle_timeout',
  'crashed',
  'engine_crashed',
  'busy',
  'bad_tool_output',
  'incomplete_stream'
])

const badToolOutput = (said: string): ModelFault =>
  createFault('bad_tool_output', `The model wrote a tool call that cannot be read. Try again, or ask for a smaller step. (${brief(said)})`)

function overflowMessage(text: string): string {
  const tokens = /n_prompt_tokens\\*"?:\s*(\d+)/.exec(text)?.[1]
  const window = /n_ctx\\*"?:\s*(\d+)/.exec(text)?.[1]
  const sizes = tokens !== undefined && window !== undefined ? ` (${tokens} of ${window} tokens)` : ''
  return `The conversation is longer than the model can read at once${sizes}. Start a new session or shorten what is sent.`
}

/** The innermost message of an error that is JSON text in a string, as llama-server's are; else the text itself. */
function innerText(text: string): string {
  try {
    const value: unknown = JSON.parse(text)
    return messageIn(value) ?? text
  } catch {
    return text
  }
}

function messageIn(value: unknown): string | undefined {
  if (typeof value === 'string') return innerText(value)
  if (typeof value !== 'object' || value === null) return undefined
  const { error, message } = value as { error?: unknown; message?: unknown }
  return messageIn(error ?? message)
}

const brief = (text: string): string => (text.length > 300 ? `${text.slice(0, 300)} …` : text)
