// The harness: ten points in four nested lives where code outside the loop may look, change, block or end (spec H1, H2).
//
//   trace.start ─┬─ turn.start ─┬─ model.start ── model.delta* ── model.end ─┬─ turn.end ─┬─ trace.end
//                │              └─ tool.start ─── tool.update* ── tool.end  ─┘            │
//                └────────────────────────── again, while there is work ─────────────────┘
//
// A gate decides: it may block at a `start` point and rewrite or terminate at an `end` point; when it throws or takes too long, it blocks.
// An observer only looks: what it throws is reported and ignored. Hooks of a point run one after another, in the order they were given.
import type { AssistantMessage, Message, ToolMessage } from '../../shared/message'
import type { Label, Progress, StopCause } from '../../shared/session'
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
}

/** `stop`: the run ends here. At `tool.start`, `code` and `reason` become the call's result, which the model reads. */
export type Verdict =
  | { readonly kind: 'stop'; readonly cause: StopCause }
  | { readonly kind: 'block'; readonly code: string; readonly reason: string; readonly stop?: StopCause }
  | { readonly kind: 'basis'; readonly basis: string }

interface Points {
  'trace.start': { in: { runId: string; messages: readonly Message[] }; out: Verdict | undefined }
  'turn.start': { in: { runId: string; turn: number; messages: readonly Message[] }; out: Verdict | undefined }
  'model.start': { in: { runId: string; turn: number; request: ModelRequest }; out: Verdict | ModelRequest | undefined }
  'model.delta': { in: { runId: string; part: 'text' | 'thinking'; delta: string }; out: undefined }
  'model.end': { in: { runId: string; turn: number; message: AssistantMessage }; out: Verdict | AssistantMessage | undefined }
  'tool.start': { in: ReadyCall; out: Verdict | undefined }
  'tool.update': { in: { callId: string; progress: Progress }; out: undefined }
  'tool.end': { in: { call: ReadyCall; result: ToolMessage }; out: Verdict | ToolMessage | undefined }
  'turn.end': { in: { runId: string; turn: number; results: readonly ToolMessage[] }; out: Verdict | undefined }
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

export interface Hooks {
  /** Outputs of the point's hooks in order, up to the first verdict (`stop`, `block`). Never throws. */
  run<P extends HookPoint>(point: P, input: HookInput<P>, signal: AbortSignal): Promise<NonNullable<HookOutput<P>>[]>
  /** Whether anything listens: points that fire for every delta are skipped when nothing does. */
  has(point: HookPoint): boolean
}

export function createHooks(hooks: readonly AnyHook[], report: (report: HookReport) => void = () => undefined): Hooks {
  const at = new Map<HookPoint, AnyHook[]>()
  for (const hook of hooks) at.set(hook.point, [...(at.get(hook.point) ?? []), hook])
  return {
    has: (point) => at.has(point),
    async run(point, input, signal) {
      const outputs: NonNullable<HookOutput<typeof point>>[] = []
      for (const hook of at.get(point) ?? []) {
        const output = await runOne(hook as Hook<typeof point>, input, signal, report)
        if (output === undefined) continue
        outputs.push(output)
        if (isVerdict(output) && output.kind !== 'basis') break
      }
      return outputs
    }
  }
}

export const isVerdict = (value: unknown): value is Verdict =>
  typeof value === 'object' && value !== null && 'kind' in value && ['stop', 'block', 'basis'].includes(String(value.kind))

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
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    if (timeLimitMs !== Infinity) timer = setTimeout(resolve, timeLimitMs, 'late')
  })
  try {
    const output = await Promise.race([hook.run(input, signal), late])
    if (output === 'late') return failed('timeout')
    const ms = performance.now() - start
    if (ms > SLOW_MS && timeLimitMs !== Infinity) report({ hook: name, point, problem: 'slow', ms })
    return kind === 'gate' ? output : undefined
  } catch (error) {
    return failed('threw', error)
  } finally {
    clearTimeout(timer)
  }
}
