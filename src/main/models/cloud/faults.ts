// What can go wrong between Tau and a provider on the net, as values with a code (docs/models.md lists them), each with what to do about it.
import { isObject, type Json, stringIn } from '../../../shared/json'
import type { ModelFault } from '../model'

type CloudCode =
  | 'unreachable'
  | 'first_token_timeout'
  | 'idle_timeout'
  | 'aborted'
  | 'context_overflow'
  | 'crashed'
  | 'model_missing'
  | 'busy'
  | 'no_credit'
  | 'refused'
  | 'filtered'
  | 'bad_tool_output'
  | 'bad_request'
  | 'bad_answer'
  | 'incomplete_stream'

const RETRYABLE: ReadonlySet<CloudCode> = new Set([
  'unreachable',
  'first_token_timeout',
  'idle_timeout',
  'crashed',
  'busy',
  'bad_tool_output',
  'incomplete_stream'
])

export const createFault = (code: CloudCode, message: string): ModelFault => ({ code, message, retryable: RETRYABLE.has(code) })

export const abortedFault = (): ModelFault => createFault('aborted', 'Stopped.')

/** An error status and its body. `wait`: the header `retry-after`. */
export function classifyStatus(status: number, body: string, model: string, wait: string | null): ModelFault {
  const value = parse(body)
  const error = isObject(value) ? (value['error'] ?? value) : value
  const fault = classify({ status, type: typeIn(error), text: textOfError(error) }, model)
  const retryAfterMs = waitAsked(wait)
  return retryAfterMs !== undefined && fault.retryable ? { ...fault, retryAfterMs } : fault
}

/** An error that came as, or inside, an answer that began well. */
export const classifyAnswer = (error: unknown, model: string): ModelFault =>
  classify({ status: statusIn(error), type: typeIn(error), text: textOfError(error) }, model)

/** A body that is no answer of a model at all: a web page, some other server's text. */
export const notAnAnswer = (body: string): ModelFault =>
  createFault(
    'bad_answer',
    `What answered is not a model's API; check the base URL. It sent: ${brief(
      body
        .replaceAll(/<[^>]*>/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim()
    )}`
  )

/** The connection could not be made, or broke before there was an answer. */
export function connectFault(cause: unknown, address: string): ModelFault {
  const code = codeOf(cause)
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/.test(code))
    return { ...createFault('unreachable', `The certificate of ${address} cannot be trusted (${code}).`), retryable: false }
  if (/ECONNRESET|UND_ERR_SOCKET|EPIPE/.test(code))
    return createFault('crashed', `${address} closed the connection without an answer. Try again.`)
  return createFault('unreachable', `${address} cannot be reached${code === '' ? '' : ` (${code})`}. Check the network and the base URL.`)
}

interface Complaint {
  readonly status: number | undefined
  /** The provider's own word for it. */
  readonly type: string
  readonly text: string
}

function classify({ status, type, text }: Complaint, model: string): ModelFault {
  const said = text === '' ? '' : ` (${brief(text)})`
  if (/context_length|prompt is too long|maximum context|context window|too many tokens/i.test(`${type} ${text}`) || status === 413)
    return createFault(
      'context_overflow',
      `The conversation is longer than ${model} can read. Start a new session or shorten what is sent.${said}`
    )
  if (/insufficient_quota|billing|\bcredits?\b/i.test(`${type} ${text}`) || status === 402)
    return createFault('no_credit', `The account for ${model} has no credit left. Look at its billing, or choose another model.${said}`)
  if (/authentication|invalid_api_key|permission/i.test(type) || status === 401 || status === 403)
    return createFault('refused', `The provider of ${model} did not accept the key. Check it in the settings.${said}`)
  if (/rate_limit/i.test(type) || status === 429)
    return createFault('busy', `The provider of ${model} wants fewer requests. Wait a moment.${said}`)
  if (/overloaded|unavailable/i.test(type) || status === 503 || status === 529)
    return createFault('busy', `The provider of ${model} is overloaded. Try again in a moment.${said}`)
  if (/not_found|model_not/i.test(type) || status === 404)
    return createFault('model_missing', `The provider has no model ${model} at this address. Check its name and the base URL.${said}`)
  if (/content_filter|content_policy|moderation/i.test(type))
    return createFault('filtered', `The provider of ${model} withheld the answer. Ask in another way.${said}`)
  if (/invalid_request/i.test(type) || (status !== undefined && status >= 400 && status < 500 && status !== 408))
    return createFault('bad_request', `The provider of ${model} did not accept the request.${said}`)
  return createFault('crashed', `The provider of ${model} failed. Try again.${said}`)
}

/** Gateways put the status that they got into `code`, as a number or as text. */
function statusIn(error: unknown): number | undefined {
  if (!isObject(error)) return undefined
  const status = Number(error['code'] ?? error['status'])
  return status >= 400 && status < 600 ? status : undefined
}

function typeIn(error: unknown): string {
  if (!isObject(error)) return ''
  return [stringIn(error, 'type'), stringIn(error, 'code'), stringIn(error, 'status')].filter((t) => t !== undefined).join(' ')
}

function textOfError(error: unknown): string {
  if (typeof error === 'string') return error.replaceAll(/<[^>]*>/g, ' ').trim()
  if (!isObject(error)) return ''
  return stringIn(error, 'message') ?? stringIn(error, 'detail') ?? JSON.stringify(error)
}

/** Milliseconds that a server asks to wait: seconds or a date (RFC 9110 §10.2.3). */
function waitAsked(header: string | null): number | undefined {
  if (header === null) return undefined
  const ms = /^\d+(\.\d+)?$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, Math.round(ms)) : undefined
}

function codeOf(error: unknown): string {
  for (let here = error, step = 0; here instanceof Error && step < 5; here = here.cause, step++) {
    const { code } = here as NodeJS.ErrnoException
    if (typeof code === 'string') return code
  }
  return ''
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

const MAX_SHOWN = 200
const brief = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 1)}…` : text)
