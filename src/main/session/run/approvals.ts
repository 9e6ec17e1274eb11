// Asking the person (spec G3): a gate at `tool.start` that waits as long as it takes. What it asks is stored before it is shown, and an answer
// counts for exactly what was shown: the tool gets the preview's `basis` and refuses when the world has changed since. A question outlives its
// process: after a restart the same question stands, and its answer is found by the call that waits for it.
import type { Answer, Approval } from '../../../shared/session'
import type { Hook, ReadyCall, Verdict } from '../../loop/hooks'
import type { PreviewResult } from '../../loop/tool'
import { decide } from '../../policy/permission'
import { newId } from '../../store/id'
import type { Desk } from '../desk'
import { setRunState } from '../desk'

export interface Approvals {
  /** `again`: calls that may have had their effect already, so that nothing but an answer lets them run. */
  gate(again: ReadonlySet<string>): Hook<'tool.start'>
  /** Stores an answer. `nobody`: the question stands, but no call of this process waits for it. False when it is closed, or unknown. */
  answer(approvalId: string, answer: Answer): 'given' | 'nobody' | false
}

export function createApprovals(desk: Desk): Approvals {
  const { id: sessionId, log } = desk
  const { store, now } = desk.scope
  const open = new Map<string, (answer: Answer | undefined) => void>()
  const permitted = new Set(store.sessions.permissions(sessionId))

  async function ask(call: ReadyCall, again: boolean, signal: AbortSignal): Promise<Verdict | undefined> {
    const isThis = (a: Approval): boolean => a.runId === call.runId && a.callId === call.callId && (a.again ?? false) === again
    const asked = store.runs.openApprovals(sessionId).find(isThis)
    // an answer of before was used up by the call that may have had its effect: it does not allow a second one
    const given = asked || again ? undefined : store.runs.given(call.runId, call.callId)
    if (given) return verdictOf(given.answer, given.basis)
    if (asked) return wait(asked.id, store.runs.basis(asked.id), signal)
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
      ...(again && { again }),
      askedAt: now()
    }
    const kept = log.persist((add) => {
      store.runs.ask(approval, sessionId, made.basis)
      add({ type: 'approval_request', runId: call.runId, turn: call.turn, approval })
    }, signal)
    if (kept) await kept
    return wait(approval.id, made.basis, signal)
  }

  async function wait(approvalId: string, basis: string, signal: AbortSignal): Promise<Verdict | undefined> {
    const answered = Promise.withResolvers<Answer | undefined>()
    const onAbort = (): void => {
      answered.resolve(undefined)
    }
    if (signal.aborted) onAbort()
    open.set(approvalId, answered.resolve)
    if (desk.active) desk.active.asked = true
    setRunState(desk, 'waiting')
    signal.addEventListener('abort', onAbort, { once: true })
    const answer = await answered.promise
    signal.removeEventListener('abort', onAbort)
    open.delete(approvalId)
    if (open.size === 0) setRunState(desk, 'running')
    if (answer) return verdictOf(answer, basis)
    close(approvalId)
    return ABORTED
  }

  /** A question whose turn ended: nobody may answer it any more. */
  function close(approvalId: string): void {
    const runId = desk.active?.run.id
    if (runId === undefined || desk.active?.left) return
    log.defer({
      draft: { type: 'approval_answer', runId, approvalId },
      row: () => {
        store.runs.answer(approvalId, undefined, now())
      }
    })
  }

  return {
    gate: (again) => ({
      point: 'tool.start',
      name: 'approval',
      kind: 'gate',
      timeLimitMs: Infinity,
      run(call, signal) {
        const { tool, label, workspace } = call
        const decision = decide({ tool: tool.name, label, arguments: call.arguments, workspace }, permitted)
        if (decision.kind === 'deny') return { kind: 'block', code: decision.code, reason: decision.reason }
        const mayRepeat = !again.has(call.callId)
        return decision.kind === 'allow' && mayRepeat ? undefined : ask(call, !mayRepeat, signal)
      }
    }),
    answer(approvalId, answer) {
      const approval = store.runs.openApprovals(sessionId).find((a) => a.id === approvalId)
      if (!approval) return false
      const forSession = answer.kind === 'allow' && answer.scope === 'session'
      log.commit((add) => {
        store.runs.answer(approvalId, answer, now())
        if (forSession) store.sessions.permit(sessionId, approval.tool, now())
        add({ type: 'approval_answer', runId: approval.runId, approvalId, answer })
      })
      if (forSession) permitted.add(approval.tool)
      const settle = open.get(approvalId)
      open.delete(approvalId) // from here on it is answered: a second answer finds nothing
      settle?.(answer)
      return settle ? 'given' : 'nobody'
    }
  }
}

const PREVIEW_LIMIT_MS = 10_000
const ABORTED: Verdict = { kind: 'block', code: 'aborted', reason: 'The run was stopped while the person was being asked. Nothing ran.' }

function verdictOf(answer: Answer, basis: string): Verdict {
  if (answer.kind === 'allow') return { kind: 'basis', basis }
  const reason = answer.reason.trim()
  return { kind: 'block', code: 'denied', reason: `The person did not allow this${reason === '' ? '.' : `: ${reason}`} Nothing ran.` }
}

async function previewOf(call: ReadyCall, signal: AbortSignal): Promise<PreviewResult> {
  const plain: PreviewResult = { preview: { kind: 'arguments' }, basis: '' }
  if (!call.tool.preview) return plain
  const limited = AbortSignal.any([signal, AbortSignal.timeout(PREVIEW_LIMIT_MS)])
  return call.tool.preview(call.arguments, { workspace: call.workspace, signal: limited })
}
