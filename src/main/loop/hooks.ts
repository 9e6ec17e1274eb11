// The harness: ten points in four nested lives where code outside the loop may look, change, block or end (spec H1, H2; docs/hooks.md).
//
//   trace.start ─┬─ turn.start ─┬─ model.start ── model.delta* ── model.end ─┬─ turn.end ─┬─ trace.end
//                │              └─ tool.start ─── tool.update* ── tool.end  ─┘            │
//                └────────────────────────── again, while there is work ─────────────────┘
//
// A gate decides: it may block at a `start` point and rewrite or terminate at an `end` point; when it throws or takes too long, it blocks.
// An observer only looks: what it throws is reported and ignored. Hooks of a point run one after another, in the order they were given.
import type { AssistantMessage, ToolMessage } from '../../shared/message'
import type { Access, Label } from '../../shared/policy'
import type { Progress, Spent, StopCause } from '../../shared/session'
import type { ModelRequest } from '../models/model'
import type { Tool } from './tool'

/** A call whose arguments fit its tool's schema. */
export interface ReadyCall {
  readonly runId: string
  readonly turn: number
  readonly callId: string
  readonly tool: Tool
  readonly label: Label
  readonly arguments: unknown
  /** The arguments as the model wrote them. */
  readonly raw: string
  readonly workspace: string
  /** What the model sees holds text from outside this computer: what follows from it is not the person's wish (design §3.12). */
  readonly foreign: boolean
}
/** A call that is over, however it ended; `ready` is missing when it never got so far. */
export interface EndedCall {
  readonly runId: string
  readonly turn: number
  readonly callId: string
  readonly name: string
  readonly raw: string
  readonly ready?: ReadyCall
  readonly result: ToolMessage
}

/**
 * `stop`: the run ends here. At `tool.start`, `code` and `reason` become the call's result, which the model reads. `allow`, at `tool.start` only: it
 * may go on, with what its preview saw as `basis` when the person was asked, and with `access` beyond its workspace.
 */
export type Verdict =
  | { readonly kind: 'stop'; readonly cause: StopCause }
  | { readonly kind: 'block'; readonly code: string; readonly reason: string; readonly stop?: StopCause }
  | { readonly kind: 'allow'; readonly basis?: string; readonly access?: Access }

interface Points {
  'trace.start': { in: { runId: string }; out: Verdict | undefined }
  'turn.start': { in: { runId: string; turn: number; spent: Spent }; out: Verdict | undefined }
  'model.start': { in: { runId: string; turn: number; request: ModelRequest }; out: Verdict | ModelRequest | undefined }
  'model.delta': { in: { runId: string; part: 'text' | 'thinking'; delta: string }; out: undefined }
  'model.end': { in: { runId: string; turn: number; message: AssistantMessage; ms: number }; out: Verdict | AssistantMessage | undefined }
  'tool.start': { in: ReadyCall; out: Verdict | undefined }
  'tool.update': { in: { callId: string; progress: Progress }; out: undefined }
  'tool.end': { in: EndedCall; out: Verdict | ToolMessage | undefined }
  'turn.end': { in: { runId: string; turn: number; results: readonly ToolMessage[]; spent: Spent }; out: Verdict | undefined }
  'trace.end': { in: { runId: string; cause: StopCause }; out: undefined }
}
export type HookPoint = keyof Points
export type HookInput<P extends HookPoint> = Points[P]['in']
type HookOutput<P extends HookPoint> = Points[P]['out']

export interface Hook<P extends HookPoint = HookPoint> {
  readonly point: P
  /** Names it in logs and in reasons: `by` of a stop. */
  readonly name: string
  readonly kind: 'gate' | 'observer'
  /** Milliseconds; Infinity for one that waits for a person. */
  readonly timeLimitMs?: number
  run(input: HookInput<P>, signal: AbortSignal): HookOutput<P> | Promise<HookOutput<P>>
}
export type AnyHook = { [P in HookPoint]: Hook<P> }[HookPoint]

export interface HookReport {
  readonly hook: string
  readonly point: HookPoint
  readonly problem: 'threw' | 'slow' | 'timeout'
  readonly ms: number
  readonly error?: unknown
}

const DEFAULT_LIMIT_MS = 5_000
const SLOW_MS = 100

/** What one hook said. */
interface Said<P extends HookPoint> {
  /** Name of the hook. */
  readonly by: string
  readonly output: NonNullable<HookOutput<P>>
}
export interface Hooks {
  /** What the point's hooks said, in order, up to the first verdict that ends the matter (`stop`, `block`). Never throws. */
  run<P extends HookPoint>(point: P, input: HookInput<P>, signal: AbortSignal): Promise<Said<P>[]>
  /** Whether anything listens: points that fire for every delta are skipped when nothing does. */
  has(point: HookPoint): boolean
}

export function createHooks(hooks: readonly AnyHook[], report: (report: HookReport) => void = () => undefined): Hooks {
  const at = new Map<HookPoint, AnyHook[]>()
  for (const hook of hooks) at.set(hook.point, [...(at.get(hook.point) ?? []), hook])
  return {
    has: (point) => at.has(point),
    async run(point, input, signal) {
      const said: Said<typeof point>[] = []
      for (const hook of at.get(point) ?? []) {
        const output = await runOne(hook as unknown as Hook<typeof point>, input, signal, report)
        if (output === undefined) continue
        said.push({ by: hook.name, output })
        if (isVerdict(output) && output.kind !== 'allow') break
      }
      return said
    }
  }
}

export const isVerdict = (value: unknown): value is Verdict =>
  typeof value === 'object' && value !== null && 'kind' in value && ['stop', 'block', 'allow'].includes(String(value.kind))

async function runOne<P extends HookPoint>(
  hook: Hook<P>,
  input: HookInput<P>,
  signal: AbortSignal,
  report: (report: HookReport) => void
): Promise<HookOutput<P> | Verdict | undefined> {
  const { name, point, kind, timeLimitMs = DEFAULT_LIMIT_MS } = hook
  const start = performance.now()
  const failed = (problem: 'threw' | 'timeout', error?: unknown): Verdict | undefined => {
    report({ hook: name, point, problem, ms: performance.now() - start, error })
    const reason = problem === 'timeout' ? `did not answer within ${String(timeLimitMs)} ms` : 'failed'
    return kind === 'gate'
      ? { kind: 'block', code: 'gate_failed', reason: `The check "${name}" ${reason}, so the action was not allowed.` }
      : undefined
  }
  try {
    const said = hook.run(input, signal)
    const output = said instanceof Promise ? await within(said, timeLimitMs, signal) : said
    if (output === LATE) return failed('timeout')
    if (output === ABORTED)
      return kind === 'gate' ? { kind: 'block', code: 'aborted', reason: 'The run was stopped. Nothing ran.' } : undefined
    const ms = performance.now() - start
    if (ms > SLOW_MS && timeLimitMs !== Infinity) report({ hook: name, point, problem: 'slow', ms })
    return kind === 'gate' ? output : undefined
  } catch (error) {
    return failed('threw', error)
  }
}

const LATE = Symbol('late')
const ABORTED = Symbol('aborted')

/** What `said` comes to, unless its time is over or the run is stopped first: a hook that hangs cannot hold either (design §3.6). */
function within<T>(said: Promise<T>, limitMs: number, signal: AbortSignal): Promise<T | typeof LATE | typeof ABORTED> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      // a gate that listens to the signal says more than we could: it gets the rest of this tick and one more
      setImmediate(end, ABORTED)
    }
    let timer: NodeJS.Timeout | undefined
    const end = (value: T | typeof LATE | typeof ABORTED): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      resolve(value)
    }
    if (limitMs !== Infinity) timer = setTimeout(end, limitMs, LATE)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    said.then(end, (error: unknown) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      reject(error instanceof Error ? error : new Error(String(error)))
    })
  })
}
