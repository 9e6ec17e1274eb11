// What a session is given by the composition root, and how it says no.
import type { Fault } from '../../shared/message'
import type { Decision, Grant, Mode, Rule } from '../../shared/policy'
import type { Run, Session } from '../../shared/session'
import type { RetryPolicy } from '../loop/answer'
import type { HookReport } from '../loop/hooks'
import type { TaskQueue } from '../loop/queue'
import type { OutputKeeper, Registry } from '../loop/tool'
import type { Model } from '../models/model'
import type { Budget } from '../policy/budget'
import type { CallFacts } from '../policy/policy'
import type { Store } from '../store/store'
import type { Undo } from '../undo/undo'
import type { StorageReport } from './log'
import type { AuditRecord } from './run/gates'

/** The rules as they are now: the policy file, and what Tau itself knows (src/main/policy). */
interface Policy {
  decide(call: CallFacts, mode: Mode, grants: readonly Grant[]): Decision
  /** The narrowest useful rule that would let such calls through; undefined: nothing sensible can be granted. */
  proposeGrant(call: CallFacts, decision: Decision): Rule | undefined
  /** Why a rule cannot be granted for a call: it is too wide, or does not cover it. Undefined: it can. */
  checkGrant(rule: Rule, call: CallFacts): string | undefined
  /** The mode of new sessions in a workspace. */
  modeFor(workspace: string): Mode
  /** The text without the secrets in it; a visible mark stands for each. */
  mask(text: string): string
}

export interface SessionScope {
  readonly store: Store
  readonly registry: Registry
  /** One for all sessions: those that share a workspace share a lane (spec T5). */
  readonly queue: TaskQueue
  readonly budget: Budget
  readonly policy: Policy
  readonly outputs: OutputKeeper
  readonly undo: Undo
  readonly retry?: RetryPolicy
  openModel(id: string): Promise<{ ok: true; model: Model } | { ok: false; error: Fault }>
  /** Model for sessions that were made when there was none; empty when there is none still. */
  defaultModel(): string
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly report: (report: HookReport) => void
  readonly audit: (record: AuditRecord) => void
  readonly storage: StorageReport
  /** Title, state, model … changed: for lists. */
  changed(session: Session): void
  /** A run ended: goes to the log. */
  readonly ended: (run: Run) => void
  /** Something failed that should not: goes to the log. */
  failed(what: string, error: unknown): void
}

/** Why an intent was not followed. */
export interface Refusal {
  readonly ok: false
  readonly code: 'NOT_FOUND' | 'CONFLICT' | 'MODEL_FAILED' | 'UNUSABLE'
  readonly message: string
}
export type Outcome<T> = { readonly ok: true; readonly value: T } | Refusal

export const done = <T>(value: T): Outcome<T> => ({ ok: true, value })
export const notFound = (message: string): Refusal => ({ ok: false, code: 'NOT_FOUND', message })
export const conflict = (message: string): Refusal => ({ ok: false, code: 'CONFLICT', message })
export const unusable = (message: string): Refusal => ({ ok: false, code: 'UNUSABLE', message })
