// The loop (spec L1): ask the model, collect its message, run its calls, feed the results back, again, until it asks for nothing more.
// It keeps nothing between runs: all it needs comes in as arguments, all that happens leaves through `emit`, and the stream function is all it
// knows of a model. Read it from top to bottom.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type AssistantMessage,
  type CallPart,
  callsOf,
  type Fault,
  type Message,
  type ToolMessage,
  type UserMessage
} from '../../shared/message'
import type { ModelPhase, Progress, Spent, StopCause } from '../../shared/session'
import type { ModelRequest, StreamFn } from '../models/model'
import { collectAnswer, DEFAULT_RETRY, type RetryPolicy, waitBeforeRetry } from './answer'
import { type HookInput, type HookPoint, type Hooks, isVerdict, type Verdict } from './hooks'
import { runCall } from './pipeline'
import type { JobOwner, TaskQueue } from './queue'
import type { Keeper, OutputKeeper, Registry } from './tool'

export type LoopEvent =
  | { readonly type: 'turn_start'; readonly turn: number }
  | { readonly type: 'turn_end'; readonly turn: number; readonly spent: Spent }
  | { readonly type: 'message_start' }
  | { readonly type: 'message_phase'; readonly phase: ModelPhase }
  | { readonly type: 'message_update'; readonly part: 'text' | 'thinking'; readonly delta: string }
  /** The request failed before its first word and is made again after `waitMs`, as attempt `attempt` of `attempts`. */
  | { readonly type: 'retry'; readonly attempt: number; readonly attempts: number; readonly waitMs: number; readonly error: Fault }
  | { readonly type: 'message_end'; readonly message: AssistantMessage }
  | { readonly type: 'tool_start'; readonly call: CallPart; readonly position: number }
  | { readonly type: 'tool_wait'; readonly callId: string; readonly behind: readonly JobOwner[] }
  | { readonly type: 'tool_dispatch'; readonly callId: string }
  | { readonly type: 'tool_update'; readonly callId: string; readonly progress: Progress }
  | { readonly type: 'tool_end'; readonly result: ToolMessage }
  | { readonly type: 'tool_late'; readonly callId: string }

/** What was said so far, as the model will see it. */
export interface LoopContext {
  add(message: Message): void
  /** The request for what was added so far; valid for every provider (design §3.5). */
  request(): ModelRequest
  /** Whether a call of that id is in what the model sees. */
  hasCall(id: string): boolean
  /** Whether what the model sees holds text from outside the workspace. */
  readonly foreign: boolean
}

/** An answer whose calls were not all done when its process ended, or when the person was still being asked. */
export interface PendingCalls {
  readonly answer: AssistantMessage
  /** Results that are entries already: those of the first calls. */
  readonly stored: number
  /** Results that are known and have no entry yet, by call id. */
  readonly known: ReadonlyMap<string, ToolMessage>
}

export interface LoopInput {
  readonly sessionId: string
  readonly runId: string
  readonly model: string
  readonly stream: StreamFn
  readonly retry?: RetryPolicy
  /** Holds everything up to the words that start this run; the loop adds what comes. */
  readonly context: LoopContext
  readonly workspace: string
  readonly registry: Registry
  readonly hooks: Hooks
  readonly queue: TaskQueue
  readonly outputs: OutputKeeper
  readonly keeper: Keeper
  /** Aborts when the person stops one call, and only that. */
  readonly cancelled: (callId: string) => AbortSignal
  /** Calls that come before the first request. */
  readonly pending?: PendingCalls
  /** Number of the first turn; default 1. */
  readonly firstTurn?: number
  readonly inbox: {
    /** Words that go into the next request; with `atEnd` also those that wait for the end of the run. */
    take(turn: number, atEnd: boolean): readonly UserMessage[] | Promise<readonly UserMessage[]>
  }
  readonly signal: AbortSignal
  /** A signal for one turn: aborts with the run, and when the person interrupts the turn (the run then goes on). Default: the run's. */
  beginTurn?(turn: number): AbortSignal
  /** What must be kept is stored when it returns, or when what it returns resolves. What it throws ends the run as an error. */
  readonly emit: (event: LoopEvent) => void | Promise<void>
}

/** Runs until there is a reason to stop, and returns it. Never throws. */
export async function runLoop(input: LoopInput): Promise<StopCause> {
  let cause: StopCause
  try {
    cause = (await stopAt(input, 'trace.start', { runId: input.runId })) ?? (await runTurns(input))
  } catch (error) {
    cause = input.signal.aborted ? { kind: 'aborted' } : failure('host_error', `Tau itself failed: ${messageOf(error)}`)
  }
  await input.hooks.run('trace.end', { runId: input.runId, cause }, input.signal)
  return cause
}

async function runTurns(input: LoopInput): Promise<StopCause> {
  const { runId, signal, emit, context } = input
  const began = performance.now()
  const used = { turns: 0, calls: 0, tokens: 0, cost: 0 }
  const unreadable = new Map<string, number>()
  const spent = (): Spent => ({ ...used, wallMs: Math.round(performance.now() - began) })
  let { pending } = input
  let heard = false // words that came at the end of the turn before are part of this request already
  for (let turn = input.firstTurn ?? 1; ; turn++) {
    if (signal.aborted) return { kind: 'aborted' }
    if (!pending && !heard) await hear(input, turn, false)
    heard = false
    const early = await stopAt(input, 'turn.start', { runId, turn, spent: spent() })
    if (early) return early

    const turnSignal = input.beginTurn?.(turn) ?? signal
    used.turns++
    await emit({ type: 'turn_start', turn })
    const { answer, stop } = pending ? { answer: pending.answer } : await askModel(input, turn, turnSignal)
    if (answer && !pending) {
      used.tokens += (answer.usage?.inputTokens ?? 0) + (answer.usage?.outputTokens ?? 0)
      used.cost += answer.usage?.cost ?? 0
      context.add(answer)
      const held = emit({ type: 'message_end', message: answer })
      if (held) await held
    }
    const mayCall = answer && !stop && (answer.stopReason === 'calls' || answer.stopReason === 'length' || pending)
    const batch = mayCall ? await runCalls(input, answer, turn, turnSignal, { pending, unreadable }) : { results: [] }
    pending = undefined
    used.calls += batch.results.length
    for (const result of batch.results) context.add(result)
    await emit({ type: 'turn_end', turn, spent: spent() })

    if (isAborted(signal)) return { kind: 'aborted' }
    if (turnSignal.aborted) continue // interrupted: what the person said comes next
    if (stop) return stop
    if (answer?.error) return failure(answer.error.code, answer.error.message)
    if (batch.stop) return batch.stop
    const late = await stopAt(input, 'turn.end', { runId, turn, results: batch.results, spent: spent() })
    if (late) return late
    if (batch.results.length > 0) continue
    heard = await hear(input, turn + 1, true)
    if (!heard) return { kind: 'natural' }
  }
}

/** Takes what the person said meanwhile into the conversation; false when there was nothing. */
async function hear(input: LoopInput, turn: number, atEnd: boolean): Promise<boolean> {
  const taken = input.inbox.take(turn, atEnd)
  const words = taken instanceof Promise ? await taken : taken
  for (const message of words) input.context.add(message)
  return words.length > 0
}

/** One answer, asked for again while it fails before its first word. None when a gate refused to ask. */
async function askModel(input: LoopInput, turn: number, signal: AbortSignal): Promise<{ answer?: AssistantMessage; stop?: StopCause }> {
  const { runId, hooks, emit, context, retry = DEFAULT_RETRY } = input
  let request = context.request()
  for (const { by, output } of await hooks.run('model.start', { runId, turn, request }, signal)) {
    if (isVerdict(output)) return { stop: causeOf(output, by) }
    request = output
  }
  const began = performance.now()
  const listened = hooks.has('model.delta')
  let named = 0
  const taken = new Set<string>()
  const nameCall = (given: string | undefined): string => {
    let id = given ?? ''
    while (id === '' || taken.has(id) || context.hasCall(id)) id = `call_${String(turn)}_${String(++named)}`
    taken.add(id)
    return id
  }
  const delta = (part: 'text' | 'thinking', text: string): void | Promise<void> => {
    const held = emit({ type: 'message_update', part, delta: text })
    if (!listened) return held
    return (async () => {
      await held
      await hooks.run('model.delta', { runId, part, delta: text }, signal)
    })()
  }
  const phase = (value: ModelPhase): void => void emit({ type: 'message_phase', phase: value })
  for (let attempt = 1; ; attempt++) {
    await emit({ type: 'message_start' })
    const { message, fault } = await collectAnswer({ stream: input.stream, request, model: input.model, signal, nameCall, phase, delta })
    const waitMs = signal.aborted ? undefined : waitBeforeRetry(retry, attempt, fault, message.parts.length > 0)
    if (waitMs === undefined || !fault) return endAnswer(input, turn, message, performance.now() - began)
    await emit({
      type: 'retry',
      attempt: attempt + 1,
      attempts: retry.attempts,
      waitMs,
      error: { code: fault.code, message: fault.message }
    })
    await sleep(waitMs, undefined, { signal }).catch(() => undefined)
  }
}

async function endAnswer(
  { runId, hooks, signal }: LoopInput,
  turn: number,
  message: AssistantMessage,
  ms: number
): Promise<{ answer: AssistantMessage; stop?: StopCause }> {
  let answer = message
  for (const { by, output } of await hooks.run('model.end', { runId, turn, message, ms }, signal)) {
    if (isVerdict(output)) return { answer, stop: causeOf(output, by) }
    answer = output
  }
  return { answer }
}

/** Runs the calls of one message side by side (the queue keeps effects apart). Results come back in call order, ends are emitted as they come. */
async function runCalls(
  input: LoopInput,
  answer: AssistantMessage,
  turn: number,
  signal: AbortSignal,
  { pending, unreadable }: { readonly pending: PendingCalls | undefined; readonly unreadable: Map<string, number> }
): Promise<{ results: ToolMessage[]; stop?: StopCause }> {
  const { sessionId, runId, workspace, registry, hooks, queue, outputs, keeper, cancelled, emit } = input
  const scope = {
    sessionId,
    runId,
    turn,
    workspace,
    registry,
    hooks,
    queue,
    outputs,
    keeper,
    cancelled,
    signal,
    unreadable,
    foreign: input.context.foreign,
    waits: (callId: string, behind: readonly JobOwner[]) => void emit({ type: 'tool_wait', callId, behind }),
    dispatched: (callId: string) => emit({ type: 'tool_dispatch', callId }),
    progress: (callId: string, progress: Progress) => {
      void emit({ type: 'tool_update', callId, progress })
      if (hooks.has('tool.update')) void hooks.run('tool.update', { callId, progress }, signal)
    },
    late: (callId: string) => void emit({ type: 'tool_late', callId })
  }
  const calls = callsOf(answer).map((call, position) => ({ call, position }))
  const due = calls.slice(pending?.stored ?? 0)
  for (const { call, position } of due) void emit({ type: 'tool_start', call, position })
  const ends = await Promise.all(
    due.map(async ({ call }) => {
      const known = pending?.known.get(call.id)
      const end = known ? { result: known } : await runCall(call, scope, answer.stopReason === 'length')
      const held = emit({ type: 'tool_end', result: end.result })
      if (held) await held
      return end
    })
  )
  const results = ends.map((e) => e.result)
  const stop = ends.find((e) => e.stop)?.stop
  return { results, ...(stop && { stop }) }
}

async function stopAt<P extends HookPoint>(input: LoopInput, point: P, value: HookInput<P>): Promise<StopCause | undefined> {
  if (!input.hooks.has(point)) return undefined
  for (const { by, output } of await input.hooks.run(point, value, input.signal))
    if (isVerdict(output) && output.kind !== 'allow') return causeOf(output, by)
  return undefined
}

/** `by`: the hook that said so. */
function causeOf(verdict: Verdict, by: string): StopCause {
  switch (verdict.kind) {
    case 'stop':
      return verdict.cause
    case 'block':
      return verdict.stop ?? { kind: 'terminated', by, reason: verdict.reason }
    case 'allow':
      return { kind: 'terminated', by }
  }
}

/** A call, as the compiler would take the first look at a signal for its last. */
const isAborted = (signal: AbortSignal): boolean => signal.aborted

const failure = (code: string, message: string): StopCause => ({ kind: 'error', error: { code, message } })
const messageOf = (error: unknown): string => (error instanceof Error ? error.message || error.name : String(error))
