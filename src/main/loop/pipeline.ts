// What stands between a model's words and an effect, in this order (design §4; spec T2, T3):
//
//   resolve → parse, repair → validate → tool.start (gates, approval) → queue → keep → dispatch → execute → limit → tool.end → result
//
// Whichever way a call leaves, it leaves as one result with a `code`; nothing in here throws.
import type { CallPart, ToolMessage } from '../../shared/message'
import type { Access } from '../../shared/policy'
import type { Progress, StopCause } from '../../shared/session'
import { CUT_OFF, readArguments } from './arguments'
import { type EndedCall, type Hooks, isVerdict, type ReadyCall } from './hooks'
import type { JobOwner, TaskQueue } from './queue'
import { DEFAULT_TIME_LIMIT_MS, type Keeper, type OutputKeeper, type Registry, type ToolOutput } from './tool'

export interface PipelineScope {
  readonly sessionId: string
  readonly runId: string
  readonly turn: number
  readonly workspace: string
  readonly registry: Registry
  readonly hooks: Hooks
  readonly queue: TaskQueue
  readonly outputs: OutputKeeper
  readonly keeper: Keeper
  readonly signal: AbortSignal
  /** Aborts when the person stops this one call. */
  readonly cancelled: (callId: string) => AbortSignal
  /** Tools whose last call in the run could not be read, and the turn of it: the next one is the only second try (spec T4). */
  readonly unreadable: Map<string, number>
  /** Whether what the model sees holds text from outside. */
  readonly foreign: boolean
  /** The call must wait for its turn. */
  waits(callId: string, behind: readonly JobOwner[]): void
  /** Called just before the effect; it is stored when this returns, or when what it returns resolves (design §4, journal). */
  dispatched(callId: string): void | Promise<void>
  progress(callId: string, progress: Progress): void
  /** A tool that ended after it was given up: said once, its result is dropped. */
  late(callId: string): void
}
export interface CallEnd {
  readonly result: ToolMessage
  /** Set when a gate ends the run with this call. */
  readonly stop?: StopCause
}

/** How long after the abort a handler may still answer before it is left behind. */
const GRACE_MS = 100
/** What one result may add to the context, whatever its tool returned. */
const MAX_RESULT_CHARS = 100_000

/** `cut`: the token limit cut the message that the call stands in, so it may be incomplete even where it parses: it never runs (spec T4). */
export async function runCall(call: CallPart, scope: PipelineScope, cut: boolean): Promise<CallEnd> {
  const refused = async (code: string, text: string, ready?: ReadyCall, stop?: StopCause): Promise<CallEnd> => {
    const end = await finish(call, resultOf(call, { code, text }, 0), scope, ready)
    return stop ? { ...end, stop } : end
  }
  if (scope.signal.aborted) return refused('aborted', NOT_BEGUN)
  if (cut) return refused('cut_off', `Your message reached the token limit. ${CUT_OFF}`)

  const tool = scope.registry.find(call.name)
  if (!tool) return refused('unknown_tool', unknownTool(call.name, scope.registry.names))
  const read = readArguments(tool, call.arguments)
  if (!read.ok) return refused(read.code, read.code === 'invalid_arguments' ? read.reason : correct(read.reason, tool.name, scope))
  scope.unreadable.delete(tool.name)

  const ready: ReadyCall = {
    runId: scope.runId,
    turn: scope.turn,
    callId: call.id,
    tool,
    label: tool.label,
    arguments: read.value,
    raw: call.arguments,
    workspace: scope.workspace,
    foreign: scope.foreign
  }
  const cancelled = scope.cancelled(call.id)
  const signal = AbortSignal.any([scope.signal, cancelled])
  let grant: Granted = { access: NO_ACCESS }
  for (const { output } of await scope.hooks.run('tool.start', ready, signal)) {
    if (output.kind === 'allow') grant = { ...grant, ...output }
    else if (cancelled.aborted) return refused('cancelled', CANCELLED, ready)
    else if (output.kind === 'block') return refused(output.code, output.reason, ready, output.stop)
    else return refused('blocked', 'The run was ended by a rule before this call. Nothing ran.', ready, output.cause)
  }

  let output: ToolOutput | undefined
  let durationMs = 0
  const job = {
    owner: { sessionId: scope.sessionId, runId: scope.runId, callId: call.id, tool: tool.name },
    exclusive: tool.label !== 'readonly',
    waits: (behind: readonly JobOwner[]) => {
      scope.waits(call.id, behind)
    },
    run: async () => {
      const kept = await scope.keeper.before(ready)
      const start = performance.now()
      output = await execute(ready, grant, scope, cancelled)
      durationMs = Math.round(performance.now() - start)
      await kept?.after()
    }
  }
  await scope.queue.add(scope.workspace, job, signal)
  output ??= cancelled.aborted ? { code: 'cancelled', text: CANCELLED } : { code: 'aborted', text: NOT_BEGUN }
  return finish(call, resultOf(call, output, durationMs), scope, ready)
}

/** The first time a model may send the call again, with what the parser said of it; after that it has to find another way. */
function correct(reason: string, tool: string, { unreadable, turn }: PipelineScope): string {
  const before = unreadable.get(tool)
  unreadable.set(tool, before ?? turn)
  return before !== undefined && before < turn ? `${reason} ${AGAIN}` : reason
}
const AGAIN = 'This was the second try. Do not send this call again: go on without it, or tell the person what stands in the way.'

/** What the gates gave to a call. */
interface Granted {
  readonly basis?: string
  readonly access: Access
}
const NO_ACCESS: Access = { network: false, reads: [], writes: [], unsandboxed: false }
const NOT_BEGUN = 'The run was stopped before this call began. Nothing ran.'
const CANCELLED = 'The person stopped this call before it began. Nothing ran.'

/** Runs the handler within its time and ours: it may throw, hang or ignore the abort, and cannot hold the run (design §3.6). */
async function execute(call: ReadyCall, grant: Granted, scope: PipelineScope, cancelled: AbortSignal): Promise<ToolOutput> {
  const { tool, callId } = call
  const timeLimit = tool.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS
  const stop = new AbortController()
  let over = false
  let settle: (output: ToolOutput) => void = () => undefined
  const given = new Promise<ToolOutput>((resolve) => {
    settle = resolve
  })
  let verdict: ToolOutput | undefined
  const giveUp = (output: ToolOutput): void => {
    verdict = output
    stop.abort()
    setTimeout(settle, GRACE_MS, output).unref()
  }
  const timer = setTimeout(() => {
    giveUp({
      code: 'timeout',
      text: `${tool.name} took longer than ${String(timeLimit)} ms and was stopped. It may have had part of its effect.`
    })
  }, timeLimit)
  const onAbort = (): void => {
    giveUp({ code: 'aborted', text: `The run was stopped while ${tool.name} ran. It may have had part of its effect.` })
  }
  const onCancel = (): void => {
    giveUp({ code: 'cancelled', text: `The person stopped ${tool.name} while it ran. It may have had part of its effect.` })
  }
  scope.signal.addEventListener('abort', onAbort, { once: true })
  cancelled.addEventListener('abort', onCancel, { once: true })
  try {
    const kept = scope.dispatched(callId)
    if (kept) await kept
    const progress = (value: Progress): void => {
      if (!over) scope.progress(callId, value)
    }
    const handler = Promise.resolve()
      .then(() => {
        if (scope.signal.aborted)
          onAbort() // while its dispatch was stored
        else if (cancelled.aborted) onCancel()
        return tool.execute(call.arguments, {
          sessionId: scope.sessionId,
          callId,
          workspace: call.workspace,
          signal: stop.signal,
          progress,
          basis: grant.basis,
          access: grant.access,
          outputs: scope.outputs
        })
      })
      .then((output: unknown) => checked(tool.name, output))
      .catch((error: unknown) => verdict ?? { code: 'threw', text: `${tool.name} failed: ${reasonOf(error)}` })
    void handler.finally(() => {
      if (over) scope.late(callId)
    })
    return await Promise.race([handler, given])
  } catch (error) {
    return { code: 'threw', text: `${tool.name} could not be started: ${reasonOf(error)}` } // the journal refused: nothing ran
  } finally {
    over = true
    clearTimeout(timer)
    scope.signal.removeEventListener('abort', onAbort)
    cancelled.removeEventListener('abort', onCancel)
  }
}

/** A plugin or a server may give back anything; only a code and a text are a result. */
function checked(name: string, output: unknown): ToolOutput {
  const { code, text, images, ref, foreign } = typeof output === 'object' && output !== null ? (output as Partial<ToolOutput>) : {}
  if (typeof code === 'string' && code !== '' && typeof text === 'string')
    return { code, text, ...(images && { images }), ...(ref !== undefined && { ref }), ...(foreign === true && { foreign }) }
  return { code: 'threw', text: `${name} gave back something that is no result (a code and a text). It may have had its effect.` }
}

/** Lets `tool.end` rewrite the result or end the run. */
async function finish(call: CallPart, result: ToolMessage, scope: PipelineScope, ready: ReadyCall | undefined): Promise<CallEnd> {
  if (!scope.hooks.has('tool.end')) return { result }
  const { runId, turn } = scope
  const ended: EndedCall = { runId, turn, callId: call.id, name: call.name, raw: call.arguments, result, ...(ready && { ready }) }
  let end: CallEnd = { result }
  for (const { output } of await scope.hooks.run('tool.end', ended, scope.signal)) {
    if (!isVerdict(output)) end = { ...end, result: output }
    else if (output.kind === 'stop') end = { ...end, stop: output.cause }
    else if (output.kind === 'block') end = { ...end, result: { ...result, code: output.code, text: output.reason } }
  }
  return end
}

const resultOf = (call: CallPart, output: ToolOutput, durationMs: number): ToolMessage => {
  const { code, text, images, ref, foreign } = output
  return {
    role: 'tool',
    callId: call.id,
    name: call.name,
    code,
    text: limit(text),
    ...(images && { images: [...images] }),
    ...(ref !== undefined && { ref }),
    ...(foreign === true && { foreign }),
    durationMs
  }
}

const limit = (text: string): string =>
  text.length <= MAX_RESULT_CHARS
    ? text
    : `${text.slice(0, MAX_RESULT_CHARS)}\n[cut: ${String(text.length - MAX_RESULT_CHARS)} more characters; ask for a smaller part]`

/** Never empty: a model can do nothing with an error that says nothing. */
function reasonOf(error: unknown): string {
  const text = (error instanceof Error ? error.message : String(error)).trim()
  return text === '' ? 'no reason was given' : text
}

function unknownTool(name: string, known: readonly string[]): string {
  const near = known
    .map((k) => ({ k, d: distance(name.toLowerCase().trim(), k.toLowerCase()) }))
    .filter(({ k, d }) => d <= Math.max(2, k.length / 3))
    .sort((a, b) => a.d - b.d)
    .slice(0, 3)
    .map(({ k }) => k)
  const list = near.length > 0 ? `Did you mean ${near.join(' or ')}?` : `The tools are: ${known.join(', ') || 'none'}.`
  return `There is no tool called "${name}". ${list} Nothing ran.`
}

/** Levenshtein distance; names are short. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
