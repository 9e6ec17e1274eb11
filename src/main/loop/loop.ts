// The loop (spec L1): ask the model, collect its message, run its calls, feed the results back, again, until it asks for nothing more.
// It keeps nothing between runs: all it needs comes in as arguments, all that happens leaves through `emit`, and the stream function is all it
// knows of a model. Read it from top to bottom.
import {
  type AssistantMessage,
  type CallPart,
  callsOf,
  type Message,
  type StopReason,
  type ToolMessage,
  type UserMessage
} from '../../shared/message'
import { appendText } from '../../shared/message'
import type { ModelPhase, Progress, StopCause } from '../../shared/session'
import type { ModelEvent, ModelRequest, StreamFn } from '../models/model'
import { type HookInput, type HookPoint, type Hooks, isVerdict, type Verdict } from './hooks'
import { runCall } from './pipeline'
import type { TaskQueue } from './queue'
import type { Registry } from './tool'

export type LoopEvent =
  | { readonly type: 'turn_start' | 'turn_end'; readonly turn: number }
  | { readonly type: 'message_start' }
  | { readonly type: 'message_phase'; readonly phase: ModelPhase }
  | { readonly type: 'message_update'; readonly part: 'text' | 'thinking'; readonly delta: string }
  /** `user`: words of the person, taken from the inbox. */
  | { readonly type: 'message_end'; readonly message: Message }
  | { readonly type: 'tool_start'; readonly call: CallPart; readonly position: number }
  | { readonly type: 'tool_dispatch'; readonly callId: string }
  | { readonly type: 'tool_update'; readonly callId: string; readonly progress: Progress }
  | { readonly type: 'tool_end'; readonly result: ToolMessage }
  | { readonly type: 'tool_late'; readonly callId: string }

export interface LoopInput {
  readonly runId: string
  readonly model: string
  readonly stream: StreamFn
  /** Everything up to the words that start this run; valid (design §3.5). */
  readonly history: readonly Message[]
  /** Makes the request for the messages so far: the context builder. */
  buildRequest(messages: readonly Message[]): ModelRequest
  readonly workspace: string
  readonly registry: Registry
  readonly hooks: Hooks
  readonly queue: TaskQueue
  readonly inbox: {
    /** Words that go into the next request; with `atEnd` also those that wait for the end of the run. */
    take(turn: number, atEnd: boolean): readonly UserMessage[]
  }
  readonly signal: AbortSignal
  /** Must have stored what it was given when it returns. What it throws ends the run as an error. */
  readonly emit: (event: LoopEvent) => void
}

/** Runs until there is a reason to stop, and returns it. Never throws. */
export async function runLoop(input: LoopInput): Promise<StopCause> {
  let cause: StopCause
  try {
    cause =
      (await stopAt(input, 'trace.start', { runId: input.runId, messages: input.history })) ?? (await runTurns(input, [...input.history]))
  } catch (error) {
    cause = input.signal.aborted ? { kind: 'aborted' } : failure('host_error', `Tau itself failed: ${messageOf(error)}`)
  }
  await input.hooks.run('trace.end', { runId: input.runId, cause }, input.signal)
  return cause
}

async function runTurns(input: LoopInput, messages: Message[]): Promise<StopCause> {
  const { runId, signal, emit } = input
  for (let turn = 1; ; turn++) {
    if (signal.aborted) return { kind: 'aborted' }
    hear(input, messages, turn, false)
    const early = await stopAt(input, 'turn.start', { runId, turn, messages })
    if (early) return early

    emit({ type: 'turn_start', turn })
    const { answer, stop } = await askModel(input, messages, turn)
    if (answer) {
      messages.push(answer)
      emit({ type: 'message_end', message: answer })
    }
    const mayCall = answer && !stop && (answer.stopReason === 'calls' || answer.stopReason === 'length')
    const batch = mayCall ? await runCalls(input, answer, turn) : { results: [] }
    messages.push(...batch.results)
    emit({ type: 'turn_end', turn })

    if (isAborted(signal)) return { kind: 'aborted' }
    if (stop) return stop
    if (answer?.error) return failure(answer.error.code, answer.error.message)
    if (batch.stop) return batch.stop
    const late = await stopAt(input, 'turn.end', { runId, turn, results: batch.results })
    if (late) return late
    if (batch.results.length === 0 && !hear(input, messages, turn, true)) return { kind: 'natural' }
  }
}

/** Takes what the person said meanwhile into the conversation; false when there was nothing. */
function hear(input: LoopInput, messages: Message[], turn: number, atEnd: boolean): boolean {
  const words = input.inbox.take(turn, atEnd)
  messages.push(...words)
  return words.length > 0
}

/** One request. Whatever the stream does (throw, hang after the abort, end without a word), a message comes back, unless a gate refused to ask. */
async function askModel(
  input: LoopInput,
  messages: readonly Message[],
  turn: number
): Promise<{ answer?: AssistantMessage; stop?: StopCause }> {
  const { runId, hooks, signal, emit } = input
  let request = input.buildRequest(messages)
  for (const output of await hooks.run('model.start', { runId, turn, request }, signal)) {
    if (isVerdict(output)) return { stop: causeOf(output, 'model.start') }
    request = output
  }
  emit({ type: 'message_start' })
  const taken = new Set(messages.flatMap(callsOf).map((c) => c.id))
  let answer = await collect(input, request, (n) => `call_${String(turn)}_${String(n)}`, taken)
  for (const output of await hooks.run('model.end', { runId, turn, message: answer }, signal)) {
    if (isVerdict(output)) return { answer, stop: causeOf(output, 'model.end') }
    answer = output
  }
  return { answer }
}

async function collect(
  input: LoopInput,
  request: ModelRequest,
  nameCall: (n: number) => string,
  taken: Set<string>
): Promise<AssistantMessage> {
  const { signal, emit, hooks, runId, model } = input
  let parts: AssistantMessage['parts'] = []
  let calls = 0
  const end = (stopReason: StopReason, rest: Partial<AssistantMessage> = {}): AssistantMessage => ({
    role: 'assistant',
    parts,
    model,
    stopReason,
    ...rest
  })
  try {
    for await (const event of untilAborted(input.stream(request, signal), signal)) {
      switch (event.type) {
        case 'phase':
          emit({ type: 'message_phase', phase: event.phase })
          break
        case 'text':
        case 'thinking':
          parts = appendText(parts, event.type, event.delta)
          emit({ type: 'message_update', part: event.type, delta: event.delta })
          if (hooks.has('model.delta')) await hooks.run('model.delta', { runId, part: event.type, delta: event.delta }, signal)
          break
        case 'call': {
          const id = event.id !== undefined && event.id !== '' && !taken.has(event.id) ? event.id : freshId(nameCall, ++calls, taken)
          taken.add(id)
          parts = [...parts, { type: 'call', id, name: event.name, arguments: event.arguments }]
          break
        }
        case 'end':
          return finishAnswer(end, parts, event)
        case 'error':
          return end(signal.aborted ? 'aborted' : 'error', { error: { code: event.error.code, message: event.error.message } })
      }
    }
    if (signal.aborted) return end('aborted', { error: ABORTED })
    return end('error', { error: { code: 'incomplete_stream', message: 'The model stopped sending before its answer was complete.' } })
  } catch (error) {
    if (signal.aborted) return end('aborted', { error: ABORTED })
    return end('error', { error: { code: 'model_threw', message: `The model adapter failed: ${messageOf(error)}` } })
  }
}

function finishAnswer(
  end: (stopReason: StopReason, rest?: Partial<AssistantMessage>) => AssistantMessage,
  parts: AssistantMessage['parts'],
  event: Extract<ModelEvent, { type: 'end' }>
): AssistantMessage {
  const wantsTools = parts.some((p) => p.type === 'call')
  if (parts.length === 0) {
    return end('error', {
      usage: event.usage,
      error: { code: 'empty_answer', message: 'The model ended its turn without saying anything.' }
    })
  }
  // servers disagree on what they call a turn with calls: the calls decide, except after a cut
  return end(event.stopReason === 'length' ? 'length' : wantsTools ? 'calls' : 'stop', { usage: event.usage })
}

function freshId(nameCall: (n: number) => string, from: number, taken: ReadonlySet<string>): string {
  let n = from
  while (taken.has(nameCall(n))) n++
  return nameCall(n)
}

/** Runs the calls of one message side by side (the queue keeps effects apart). Results come back in call order, ends are emitted as they come. */
async function runCalls(input: LoopInput, answer: AssistantMessage, turn: number): Promise<{ results: ToolMessage[]; stop?: StopCause }> {
  const { runId, workspace, registry, hooks, queue, signal, emit } = input
  const calls = callsOf(answer)
  const scope = {
    runId,
    turn,
    workspace,
    registry,
    hooks,
    queue,
    signal,
    dispatched: (callId: string) => {
      emit({ type: 'tool_dispatch', callId })
    },
    progress: (callId: string, progress: Progress) => {
      emit({ type: 'tool_update', callId, progress })
      if (hooks.has('tool.update')) void hooks.run('tool.update', { callId, progress }, signal)
    },
    late: (callId: string) => {
      emit({ type: 'tool_late', callId })
    }
  }
  for (const [position, call] of calls.entries()) emit({ type: 'tool_start', call, position })
  const ends = await Promise.all(
    calls.map(async (call) => {
      const end = answer.stopReason === 'length' ? { result: cutOff(call) } : await runCall(call, scope)
      emit({ type: 'tool_end', result: end.result })
      return end
    })
  )
  const results = ends.map((e) => e.result)
  const stop = ends.find((e) => e.stop)?.stop
  return { results, ...(stop && { stop }) }
}

/** A call that the token limit cut may be cut anywhere, also where it still parses: it never runs (spec T4). */
const cutOff = (call: CallPart): ToolMessage => ({
  role: 'tool',
  callId: call.id,
  name: call.name,
  code: 'cut_off',
  text: 'Your message reached the token limit, so this call may be incomplete. Nothing ran. Send it again, shorter, or split it.',
  durationMs: 0
})

async function stopAt<P extends HookPoint>(input: LoopInput, point: P, value: HookInput<P>): Promise<StopCause | undefined> {
  for (const output of await input.hooks.run(point, value, input.signal))
    if (isVerdict(output) && output.kind !== 'basis') return causeOf(output, point)
  return undefined
}

const causeOf = (verdict: Verdict, point: HookPoint): StopCause =>
  verdict.kind === 'stop'
    ? verdict.cause
    : verdict.kind === 'block'
      ? (verdict.stop ?? failure(verdict.code, verdict.reason))
      : { kind: 'terminated', by: point }

/** Events of a stream until the signal aborts, also when the stream does not listen to it. */
async function* untilAborted(stream: AsyncIterable<ModelEvent>, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const events = stream[Symbol.asyncIterator]()
  let wake: () => void = () => undefined
  const aborted = new Promise<undefined>((resolve) => {
    wake = () => {
      resolve(undefined)
    }
  })
  signal.addEventListener('abort', wake, { once: true })
  if (signal.aborted) wake()
  try {
    for (;;) {
      const next = await Promise.race([events.next(), aborted])
      if (next === undefined || next.done === true) return
      yield next.value
    }
  } finally {
    signal.removeEventListener('abort', wake)
    void events.return?.().then(undefined, () => undefined) // not awaited: a deaf stream may never return
  }
}

/** A call, as the compiler would take the first look at a signal for its last. */
const isAborted = (signal: AbortSignal): boolean => signal.aborted

const ABORTED = { code: 'aborted', message: 'Stopped.' }
const failure = (code: string, message: string): StopCause => ({ kind: 'error', error: { code, message } })
const messageOf = (error: unknown): string => (error instanceof Error ? error.message || error.name : String(error))
