// What stands between a model's words and an effect, in this order (design §4; spec T2, T3):
//
//   resolve → parse, repair → validate → tool.start (gates, approval) → queue → dispatch → execute → limit → tool.end → result
//
// Whichever way a call leaves, it leaves as one result with a `code`; nothing in here throws.
import type { CallPart, ToolMessage } from '../../shared/message'
import type { Progress, StopCause } from '../../shared/session'
import { readArguments } from './arguments'
import { type EndedCall, type Hooks, isVerdict, type ReadyCall } from './hooks'
import type { TaskQueue } from './queue'
import { DEFAULT_TIME_LIMIT_MS, type Registry, type ToolOutput } from './tool'

export interface PipelineScope {
  readonly runId: string
  readonly turn: number
  readonly workspace: string
  readonly registry: Registry
  readonly hooks: Hooks
  readonly queue: TaskQueue
  readonly signal: AbortSignal
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
    const end = await finish(call, resultOf(call, code, text, 0), scope, ready)
    return stop ? { ...end, stop } : end
  }
  if (scope.signal.aborted) return refused('aborted', 'The run was stopped before this call began. Nothing ran.')
  if (cut) return refused('cut_off', CUT_OFF)

  const tool = scope.registry.find(call.name)
  if (!tool) return refused('unknown_tool', unknownTool(call.name, scope.registry.names))
  const read = readArguments(tool, call.arguments)
  if (!read.ok) return refused(read.code, read.reason)

  const ready: ReadyCall = {
    runId: scope.runId,
    turn: scope.turn,
    callId: call.id,
    tool,
    label: tool.label,
    arguments: read.value,
    raw: call.arguments,
    workspace: scope.workspace
  }
  let basis: string | undefined
  for (const { output } of await scope.hooks.run('tool.start', ready, scope.signal)) {
    if (output.kind === 'basis') basis = output.basis
    else if (output.kind === 'block') return refused(output.code, output.reason, ready, output.stop)
    else return refused('blocked', 'The run was ended by a rule before this call. Nothing ran.', ready, output.cause)
  }

  let output: ToolOutput = { code: 'aborted', text: 'The run was stopped before this call began. Nothing ran.' }
  let durationMs = 0
  const job = {
    exclusive: tool.label !== 'readonly',
    run: async () => {
      const start = performance.now()
      output = await execute(ready, basis, scope)
      durationMs = Math.round(performance.now() - start)
    }
  }
  await scope.queue.add(scope.workspace, job, scope.signal)
  return finish(call, resultOf(call, output.code, limit(output.text), durationMs), scope, ready)
}

const CUT_OFF = 'Your message reached the token limit, so this call may be incomplete. Nothing ran. Send it again, shorter, or split it.'

/** Runs the handler within its time and ours: it may throw, hang or ignore the abort, and cannot hold the run (design §3.6). */
async function execute(call: ReadyCall, basis: string | undefined, scope: PipelineScope): Promise<ToolOutput> {
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
  scope.signal.addEventListener('abort', onAbort, { once: true })
  try {
    const kept = scope.dispatched(callId)
    if (kept) await kept
    const progress = (value: Progress): void => {
      if (!over) scope.progress(callId, value)
    }
    const handler = Promise.resolve()
      .then(() => tool.execute(call.arguments, { workspace: call.workspace, signal: stop.signal, progress, basis }))
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
  }
}

/** A plugin or a server may give back anything; only a code and a text are a result. */
function checked(name: string, output: unknown): ToolOutput {
  const { code, text } = typeof output === 'object' && output !== null ? (output as Partial<ToolOutput>) : {}
  if (typeof code === 'string' && code !== '' && typeof text === 'string') return { code, text }
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

const resultOf = (call: CallPart, code: string, text: string, durationMs: number): ToolMessage => ({
  role: 'tool',
  callId: call.id,
  name: call.name,
  code,
  text,
  durationMs
})

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
