// Asking the person (spec G3): a gate at `tool.start` that waits as long as it takes. What it asks is stored before it is shown, and an answer
// counts for exactly what was shown: the tool gets the preview's `basis` and refuses when the world has changed since.
import type { Answer, Approval } from '../../shared/session'
import type { Hook, ReadyCall, Verdict } from '../loop/hooks'
import type { PreviewResult } from '../loop/tool'
import { decide } from '../policy/permission'
import { newId } from '../store/id'
import type { Store } from '../store/store'
import type { EventLog } from './log'

export interface ApprovalScope {
  readonly sessionId: string
  readonly store: Store
  readonly log: EventLog
  now(): number
  /** The run waits for a person, or goes on. */
  waiting(is: boolean): void
}
export interface Approvals {
  readonly gate: Hook<'tool.start'>
  /** False when no such approval is open (any more). */
  answer(approvalId: string, answer: Answer): boolean
}

interface Open {
  readonly approval: Approval
  readonly settle: (answer: Answer) => void
}

export function createApprovals(scope: ApprovalScope): Approvals {
  const { sessionId, store, log } = scope
  const open = new Map<string, Open>()
  const permitted = new Set(store.sessions.permissions(sessionId))

  async function ask(call: ReadyCall, signal: AbortSignal): Promise<Verdict | undefined> {
    const made = await previewOf(call, signal)
    if ('refuse' in made) return { kind: 'block', code: made.refuse.code, reason: made.refuse.text }
    if (signal.aborted) return ABORTED
    const approval: Approval = {
      id: newId(),
      runId: call.runId,
      callId: call.callId,
      tool: call.tool.name,
      label: call.label,
      arguments: call.raw,
      preview: made.preview,
      askedAt: scope.now()
    }
    const answered = Promise.withResolvers<Answer | undefined>()
    const onAbort = (): void => {
      answered.resolve(undefined)
    }
    log.commit((add) => {
      store.runs.ask(approval, sessionId)
      add({ type: 'approval_request', runId: call.runId, turn: call.turn, approval })
    }, true)
    open.set(approval.id, { approval, settle: answered.resolve })
    scope.waiting(true)
    signal.addEventListener('abort', onAbort, { once: true })
    const answer = await answered.promise
    signal.removeEventListener('abort', onAbort)
    open.delete(approval.id)
    if (!answer) return ABORTED // the end of the run closes what is open
    if (open.size === 0) scope.waiting(false)
    if (answer.kind === 'allow') return { kind: 'basis', basis: made.basis }
    const reason = answer.reason.trim()
    return { kind: 'block', code: 'denied', reason: `The person did not allow this${reason === '' ? '.' : `: ${reason}`} Nothing ran.` }
  }

  return {
    gate: {
      point: 'tool.start',
      name: 'approval',
      kind: 'gate',
      timeLimitMs: Infinity,
      run(call, signal) {
        const decision = decide(
          { tool: call.tool.name, label: call.label, arguments: call.arguments, workspace: call.workspace },
          permitted
        )
        if (decision.kind === 'allow') return undefined
        if (decision.kind === 'deny') return { kind: 'block', code: decision.code, reason: decision.reason }
        return ask(call, signal)
      }
    },
    answer(approvalId, answer) {
      const waiting = open.get(approvalId)
      if (!waiting) return false
      const { approval } = waiting
      const forSession = answer.kind === 'allow' && answer.scope === 'session'
      log.commit((add) => {
        store.runs.answer(approvalId, answer, scope.now())
        if (forSession) store.sessions.permit(sessionId, approval.tool, scope.now())
        add({ type: 'approval_answer', runId: approval.runId, approvalId, answer })
      }, true)
      open.delete(approvalId) // from here on it is answered: a second answer finds nothing
      if (forSession) permitted.add(approval.tool)
      waiting.settle(answer)
      return true
    }
  }
}

const PREVIEW_LIMIT_MS = 10_000
const ABORTED: Verdict = { kind: 'block', code: 'aborted', reason: 'The run was stopped while the person was being asked. Nothing ran.' }

async function previewOf(call: ReadyCall, signal: AbortSignal): Promise<PreviewResult> {
  const plain: PreviewResult = { preview: { kind: 'arguments' }, basis: '' }
  if (!call.tool.preview) return plain
  const limited = AbortSignal.any([signal, AbortSignal.timeout(PREVIEW_LIMIT_MS)])
  return call.tool.preview(call.arguments, { workspace: call.workspace, signal: limited })
}
