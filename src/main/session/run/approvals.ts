// The gate before every effect (spec T6, G1, G3), and asking the person: a hook at `tool.start` that waits as long as it takes. What it asks is stored
// before it is shown, and an answer counts for exactly what was shown: the tool gets the preview's `basis` and refuses when the world has changed
// since. A question outlives its process: after a restart the same question stands, and its answer is found by the call that waits for it.
import type { Decision, Rule } from '../../../shared/policy'
import type { Answer, Approval } from '../../../shared/session'
import type { Hook, ReadyCall, Verdict } from '../../loop/hooks'
import type { PreviewResult } from '../../loop/tool'
import { newId } from '../../store/id'
import type { Desk } from '../desk'
import { setRunState } from '../desk'
import type { CallFacts } from '../../policy/policy'

/** What became of an answer. `nobody`: it was stored, but no call of this process waits for it. */
type Answered = { readonly kind: 'given' | 'nobody' | 'closed' } | { readonly kind: 'unusable'; readonly reason: string }

export interface Approvals {
  /** `again`: calls that may have had their effect already, so that nothing but an answer lets them run. */
  gate(again: ReadonlySet<string>): Hook<'tool.start'>
  /** Stores an answer. `closed`: it was answered, or its run has ended. */
  answer(approvalId: string, answer: Answer): Answered
}

interface Waiting {
  readonly settle: (answer: Answer | undefined) => void
  readonly facts: CallFacts
}

export function createApprovals(desk: Desk): Approvals {
  const { id: sessionId, log } = desk
  const { store, now, policy, audit } = desk.scope
  const open = new Map<string, Waiting>()

  const factsOf = ({ tool, label, arguments: args, workspace, foreign }: ReadyCall): CallFacts => ({
    tool: tool.name,
    label,
    touches: tool.touches?.(args) ?? {},
    workspace,
    foreign
  })
  const decide = (facts: CallFacts): Decision => policy.decide(facts, desk.info.mode, store.grants.holding(sessionId, desk.info.workspace))

  async function ask(
    call: ReadyCall,
    facts: CallFacts,
    decision: Decision,
    again: boolean,
    signal: AbortSignal
  ): Promise<Verdict | undefined> {
    const isThis = (a: Approval): boolean => a.runId === call.runId && a.callId === call.callId && (a.again ?? false) === again
    const asked = store.runs.openApprovals(sessionId).find(isThis)
    // an answer of before was used up by the call that may have had its effect: it does not allow a second one
    const given = asked || again ? undefined : store.runs.given(call.runId, call.callId)
    if (given) return verdictOf(given.answer, given.basis, given.approval.decision ?? decision)
    if (asked) return wait(asked, store.runs.basis(asked.id), facts, asked.decision ?? decision, signal)
    const made = await previewOf(call, sessionId, decision, signal)
    if ('refuse' in made) return { kind: 'block', code: made.refuse.code, reason: made.refuse.text }
    if (signal.aborted) return ABORTED
    const grant = again || call.tool.asksPerson ? undefined : policy.proposeGrant(facts, decision)
    const approval: Approval = {
      id: newId(),
      runId: call.runId,
      callId: call.callId,
      tool: call.tool.name,
      label: call.label,
      arguments: call.raw,
      preview: made.preview,
      decision,
      ...(grant && { grant }),
      ...(again && { again }),
      askedAt: now()
    }
    const kept = log.persist((add) => {
      store.runs.ask(approval, sessionId, made.basis)
      add({ type: 'approval_request', runId: call.runId, turn: call.turn, approval })
    }, signal)
    if (kept) await kept
    return wait(approval, made.basis, facts, decision, signal)
  }

  async function wait(
    approval: Approval,
    basis: string,
    facts: CallFacts,
    decision: Decision,
    signal: AbortSignal
  ): Promise<Verdict | undefined> {
    const answered = Promise.withResolvers<Answer | undefined>()
    const onAbort = (): void => {
      answered.resolve(undefined)
    }
    if (signal.aborted) onAbort()
    open.set(approval.id, { settle: answered.resolve, facts })
    if (desk.active) desk.active.asked = true
    setRunState(desk, 'waiting')
    signal.addEventListener('abort', onAbort, { once: true })
    const answer = await answered.promise
    signal.removeEventListener('abort', onAbort)
    open.delete(approval.id)
    if (open.size === 0) setRunState(desk, 'running')
    if (answer) return verdictOf(answer, basis, decision)
    close(approval.id)
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

  /** The rule that an answer would store, or why it cannot be. */
  function grantOf(approval: Approval, answer: Answer): { rule?: Rule } | { reason: string } {
    if (answer.kind === 'reply')
      return approval.preview.kind === 'question' ? {} : { reason: 'This is not a question that words can answer.' }
    if (answer.kind === 'deny' || answer.scope === 'once') return {}
    if (approval.preview.kind === 'question') return { reason: 'A question is answered with words.' }
    const rule = answer.rule ?? approval.grant
    if (!rule) return { reason: 'This call can be allowed once only: no rule would say safely what else to allow.' }
    const facts = open.get(approval.id)?.facts
    const reason = rule.verdict === 'allow' ? facts && policy.checkGrant(rule, facts) : 'A grant can only allow.'
    return reason === undefined ? { rule } : { reason }
  }

  function keep(approval: Approval, answer: Answer, rule: Rule | undefined): 'given' | 'nobody' {
    const at = now()
    log.commit((add) => {
      store.runs.answer(approval.id, answer, at)
      if (rule) {
        const forSession = answer.kind === 'allow' && answer.scope === 'session'
        store.grants.add({ id: newId(), workspace: desk.info.workspace, ...(forSession && { sessionId }), rule, grantedAt: at })
      }
      add({ type: 'approval_answer', runId: approval.runId, approvalId: approval.id, answer })
    })
    audit({
      event: 'approval',
      session_id: sessionId,
      run_id: approval.runId,
      tool: approval.tool,
      answer: answer.kind === 'allow' ? answer.scope : answer.kind,
      code: approval.decision?.code,
      waited_ms: at - approval.askedAt
    })
    const waiting = open.get(approval.id)
    open.delete(approval.id) // from here on it is answered: a second answer finds nothing
    waiting?.settle(answer)
    return waiting ? 'given' : 'nobody'
  }

  return {
    gate: (again) => ({
      point: 'tool.start',
      name: 'approval',
      kind: 'gate',
      timeLimitMs: Infinity,
      run(call, signal) {
        const facts = factsOf(call)
        const decision = decide(facts)
        const mayRepeat = !again.has(call.callId)
        if (decision.verdict === 'deny') return { kind: 'block', code: decision.code, reason: `${decision.why} Nothing ran.` }
        if (decision.verdict === 'allow' && mayRepeat && !call.tool.asksPerson) return { kind: 'allow', access: decision.access }
        return ask(call, facts, decision, !mayRepeat, signal)
      }
    }),
    answer(approvalId, answer) {
      const isOpen = (a: Approval): boolean => a.id === approvalId
      const approval = store.runs.openApprovals(sessionId).find(isOpen)
      if (!approval) return { kind: 'closed' }
      const grant = grantOf(approval, answer)
      if ('reason' in grant) return { kind: 'unusable', reason: grant.reason }
      const kind = keep(approval, answer, grant.rule)
      if (grant.rule) {
        // others that wait and that the new rule lets through need no second click
        for (const other of store.runs.openApprovals(sessionId)) {
          const facts = open.get(other.id)?.facts
          if (!facts || other.again || other.preview.kind === 'question') continue
          if (decide(facts).verdict === 'allow') keep(other, { kind: 'allow', scope: 'once' }, undefined)
        }
      }
      return { kind }
    }
  }
}

const PREVIEW_LIMIT_MS = 10_000
const ABORTED: Verdict = { kind: 'block', code: 'aborted', reason: 'The run was stopped while the person was being asked. Nothing ran.' }

function verdictOf(answer: Answer, basis: string, { access }: Decision): Verdict {
  switch (answer.kind) {
    case 'allow':
      return { kind: 'allow', basis, access }
    case 'reply':
      return { kind: 'allow', basis: answer.text, access }
    case 'deny': {
      const reason = answer.reason.trim().replace(/[.!。！]+$/, '')
      return { kind: 'block', code: 'denied', reason: `The person did not allow this${reason === '' ? '' : `: ${reason}`}. Nothing ran.` }
    }
  }
}

async function previewOf(call: ReadyCall, sessionId: string, { access }: Decision, signal: AbortSignal): Promise<PreviewResult> {
  const plain: PreviewResult = { preview: { kind: 'arguments' }, basis: '' }
  if (!call.tool.preview) return plain
  const limited = AbortSignal.any([signal, AbortSignal.timeout(PREVIEW_LIMIT_MS)])
  return call.tool.preview(call.arguments, { workspace: call.workspace, signal: limited, access, sessionId })
}
