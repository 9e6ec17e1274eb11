// One answer of a model behind Ollama's protocol: the stream function that Tau's loop calls (spec L4). The same for a real Ollama and for
// Tau's own engine; where they differ, the target says so.
import type { IncomingMessage } from 'node:http'
import type { ModelEvent, ModelFault, ModelRequest, StreamFn } from '../model'
import { buildChatBody } from './body'
import { createChannel, type Channel } from './channel'
import { abortedFault, createFault } from './errors'
import { createFrameReader } from './frames'
import { askJson, type Endpoint, isAborted, type Result, sendRequest } from './http'
import { objectsIn, stringIn } from '../../../shared/json'
import { createWatchdog, type Limits, limitsFor, type Watchdog } from './limits'
import { createLineSplitter } from './ndjson'

export interface ChatTarget {
  /** The server's name of the model. */
  readonly model: string
  readonly window: number
  readonly tools: boolean
  readonly size?: number
  readonly maxOutput?: number
  /** `told`: the server sends frames about it (Tau's engine); `watched`: its list of loaded models is looked at. */
  readonly phases: 'told' | 'watched'
  /** Where the server is; may start it first. Must not throw. */
  readonly connect: (signal: AbortSignal) => Promise<Result<Endpoint>>
  /** For tests. */
  readonly limits?: Partial<Limits>
}

export const createChat = (target: ChatTarget): StreamFn =>
  async function* (request, signal) {
    const events = createChannel<ModelEvent>()
    const stop = new AbortController()
    const abort = (): void => {
      stop.abort()
      events.end({ type: 'error', error: abortedFault() })
    }
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    const turn: Turn = { target, request, events, stop, watchdog: createWatchdog() }
    void runTurn(turn).catch((cause: unknown) => {
      fail(turn, createFault('bad_answer', `The answer of ${target.model} could not be read: ${String(cause)}`))
    })
    try {
      yield* events
    } finally {
      // also when the reader leaves early: the server must not go on for nobody
      stop.abort()
      turn.watchdog.stop()
      signal.removeEventListener('abort', abort)
    }
  }

interface Turn {
  readonly target: ChatTarget
  readonly request: ModelRequest
  readonly events: Channel<ModelEvent>
  readonly stop: AbortController
  readonly watchdog: Watchdog
}

async function runTurn(turn: Turn): Promise<void> {
  const { target, request, events, stop } = turn
  events.push({ type: 'phase', phase: { phase: 'queued' } })
  const found = await target.connect(stop.signal)
  if (!found.ok) {
    fail(turn, found.error)
    return
  }
  const body = buildChatBody(request, { ...target, phases: target.phases === 'told' })
  const limits = { ...limitsFor(workOf(target, request)), ...target.limits }
  const late = createFault('first_token_timeout', `${target.model} did not begin to answer in time. Try again, or choose a smaller model.`)
  guard(turn, limits.coldMs, late)
  const watch = new AbortController()
  if (target.phases === 'watched')
    void watchLoading(turn, found.value, AbortSignal.any([stop.signal, watch.signal]), () => {
      guard(turn, limits.warmMs, late)
    })
  const answer = await sendRequest(found.value, { method: 'POST', path: '/api/chat', body }, stop.signal, target.model)
  watch.abort()
  if (answer.ok) await readAnswer(turn, answer.value, limits)
  else fail(turn, answer.error)
}

async function readAnswer(turn: Turn, answer: IncomingMessage, limits: Limits): Promise<void> {
  const { target, request, events } = turn
  const lines = createLineSplitter()
  const frames = createFrameReader(target.model, target.tools && request.tools.length > 0)
  const silent = createFault('idle_timeout', `${target.model} stopped in the middle of its answer. Try again.`, false)
  const pass = (found: readonly ModelEvent[]): void => {
    for (const event of found) {
      if (event.type === 'end' || event.type === 'error') events.end(event)
      else events.push(event)
    }
  }
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      guard(turn, limits.idleMs, silent)
      for (const line of lines.push(chunk)) pass(frames.push(line))
    }
  } catch {
    // the connection broke: what came is kept, the end says that it is incomplete
  }
  // half a frame is what a cut leaves: the end says so
  for (const line of lines.end()) if (line.ok || !line.text.trimStart().startsWith('{')) pass(frames.push(line))
  pass(frames.end())
}

/** Ends the turn with `fault` when it is not called again within `ms`. */
function guard(turn: Turn, ms: number, fault: ModelFault): void {
  turn.watchdog.set(ms, () => {
    fail(turn, fault)
  })
}

function fail({ events, stop }: Turn, error: ModelFault): void {
  events.end({ type: 'error', error })
  stop.abort()
}

/**
 * Tells loading from reading: Ollama sends no headers before the first word, but lists what is in memory. Ends with `signal`; `onLoaded`
 * is called once.
 */
async function watchLoading({ target, events }: Turn, endpoint: Endpoint, signal: AbortSignal, onLoaded: () => void): Promise<void> {
  for (let first = true; !signal.aborted; first = false) {
    const loaded = await askJson(endpoint, { method: 'GET', path: '/api/ps' }, signal, 5_000)
    if (isAborted(signal)) return
    if (loaded.ok && objectsIn(loaded.value, 'models').some((m) => sameModel(stringIn(m, 'name') ?? '', target.model))) {
      events.push({ type: 'phase', phase: { phase: 'reading' } })
      onLoaded()
      return
    }
    if (first) events.push({ type: 'phase', phase: { phase: 'loading' } })
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, 2_000)
      signal.addEventListener(
        'abort',
        () => {
          clearTimeout(timer)
          resolve()
        },
        { once: true }
      )
    })
  }
}

/** Names without a tag mean `latest`. */
export const sameModel = (a: string, b: string): boolean => withTag(a) === withTag(b)
const withTag = (name: string): string => (name.includes(':') ? name : `${name}:latest`)

const workOf = (target: ChatTarget, request: ModelRequest): Parameters<typeof limitsFor>[0] => ({
  characters: JSON.stringify([request.system, request.messages, target.tools ? request.tools : []]).length,
  maxOutput: Math.min(request.maxOutputTokens, target.maxOutput ?? Infinity),
  tools: target.tools && request.tools.length > 0,
  ...(target.size !== undefined && { size: target.size })
})
