// One answer of a model: the request, its stream, and what to do when it fails before its first word (spec L4).
import { type AssistantMessage, appendText, type Fault, type StopReason } from '../../shared/message'
import type { ModelPhase } from '../../shared/session'
import type { ModelEvent, ModelFault, ModelRequest, StreamFn } from '../models/model'
import { splitArguments } from './arguments'

export interface AnswerScope {
  readonly stream: StreamFn
  readonly request: ModelRequest
  readonly model: string
  /** Ends the answer; what came until then is kept. */
  readonly signal: AbortSignal
  /** A name for the call that the server left without one, or with one that is taken. */
  nameCall(given: string | undefined): string
  phase(phase: ModelPhase): void
  delta(part: 'text' | 'thinking', delta: string): void | Promise<void>
}

/** How often a request that failed before its first word is made again, and after how long. */
export interface RetryPolicy {
  /** Requests in all, the first included. */
  readonly attempts: number
  /** Milliseconds before the second request; doubles with each further one. */
  readonly baseMs: number
  readonly capMs: number
  /** The longest wait that a server may ask for; a longer one is told to the person instead. */
  readonly longestMs: number
}
/** About two minutes in all: a local server that loads a model fails for that long. */
export const DEFAULT_RETRY: RetryPolicy = { attempts: 8, baseMs: 500, capMs: 30_000, longestMs: 5 * 60_000 }

/** A server that is not there, or a model that cannot write a call, will not be otherwise in two minutes: the person should know soon. */
const FEW: ReadonlySet<string> = new Set(['unreachable', 'bad_tool_output'])
const FEW_ATTEMPTS = 3

/**
 * Milliseconds until the next request, or undefined when there must be none: only a fault that may pass, and only when nothing was shown.
 * The wait is what the server asked for, else doubles, with a random part of a quarter so that many clients do not come back at once.
 */
export function waitBeforeRetry(policy: RetryPolicy, attempt: number, fault: ModelFault | undefined, shown: boolean): number | undefined {
  const attempts = FEW.has(fault?.code ?? '') ? Math.min(policy.attempts, FEW_ATTEMPTS) : policy.attempts
  if (!fault?.retryable || shown || attempt >= attempts) return undefined
  if (fault.retryAfterMs !== undefined) return fault.retryAfterMs <= policy.longestMs ? fault.retryAfterMs : undefined
  const wait = Math.min(policy.capMs, policy.baseMs * 2 ** (attempt - 1))
  return Math.round(wait * (0.75 + Math.random() / 4))
}

/** Whatever the stream does (throws, hangs after the abort, ends without a word), a message comes back; with it the fault, when there was one. */
export async function collectAnswer(scope: AnswerScope): Promise<{ message: AssistantMessage; fault?: ModelFault }> {
  const { signal, model } = scope
  const parts: AssistantMessage['parts'] = []
  const end = (stopReason: StopReason, rest: Partial<AssistantMessage> = {}): AssistantMessage => ({
    role: 'assistant',
    parts,
    model,
    stopReason,
    ...rest
  })
  const failed = (fault: ModelFault): { message: AssistantMessage; fault: ModelFault } => ({
    message: end(signal.aborted ? 'aborted' : 'error', { error: signal.aborted ? STOPPED : { code: fault.code, message: fault.message } }),
    fault
  })
  try {
    for await (const event of untilAborted(scope.stream(scope.request, signal), signal)) {
      switch (event.type) {
        case 'phase':
          scope.phase(event.phase)
          break
        case 'text':
        case 'thinking': {
          grow(parts, event.type, event.delta)
          const held = scope.delta(event.type, event.delta)
          if (held) await held
          break
        }
        case 'call':
          for (const [i, text] of splitArguments(event.arguments).entries())
            parts.push({ type: 'call', id: scope.nameCall(i === 0 ? event.id : undefined), name: event.name, arguments: text })
          break
        case 'end':
          return finish(parts, event, end)
        case 'error':
          return failed(event.error)
      }
    }
    return failed({ code: 'incomplete_stream', message: 'The model stopped sending before its answer was complete.', retryable: true })
  } catch (error) {
    return failed({ code: 'model_threw', message: `The model adapter failed: ${messageOf(error)}`, retryable: false })
  }
}

/** `appendText`, in place: the message is nobody else's yet. */
function grow(parts: AssistantMessage['parts'], type: 'text' | 'thinking', delta: string): void {
  const last = parts.at(-1)
  if (last?.type === type) last.text += delta
  else parts.push(...appendText([], type, delta))
}

function finish(
  parts: AssistantMessage['parts'],
  event: Extract<ModelEvent, { type: 'end' }>,
  end: (stopReason: StopReason, rest?: Partial<AssistantMessage>) => AssistantMessage
): { message: AssistantMessage } {
  const { usage } = event
  if (parts.length === 0) {
    return {
      message: end('error', { usage, error: { code: 'empty_answer', message: 'The model ended its turn without saying anything.' } })
    }
  }
  // servers disagree on what they call a turn with calls: the calls decide, except after a cut
  const wantsTools = parts.some((p) => p.type === 'call')
  return { message: end(event.stopReason === 'length' ? 'length' : wantsTools ? 'calls' : 'stop', { usage }) }
}

/** Events of a stream until the signal aborts, also when the stream does not listen to it. */
async function* untilAborted(stream: AsyncIterable<ModelEvent>, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const events = stream[Symbol.asyncIterator]()
  // one promise a step, not a race against a lasting one: that would gather a reaction for every delta
  let wake: () => void = () => undefined
  const onAbort = (): void => {
    wake()
  }
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    while (!signal.aborted) {
      const next = await new Promise<IteratorResult<ModelEvent> | undefined>((resolve, reject) => {
        wake = () => {
          resolve(undefined)
        }
        events.next().then(resolve, reject)
      })
      if (next === undefined || next.done === true) return
      yield next.value
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    void events.return?.().then(undefined, () => undefined) // not awaited: a deaf stream may never return
  }
}

const STOPPED: Fault = { code: 'aborted', message: 'Stopped.' }
const messageOf = (error: unknown): string => (error instanceof Error ? error.message || error.name : String(error))
