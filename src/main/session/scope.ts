// What a session is given by the composition root, and how it says no.
import type { Fault } from '../../shared/message'
import type { Run, Session } from '../../shared/session'
import type { RetryPolicy } from '../loop/answer'
import type { HookReport } from '../loop/hooks'
import type { TaskQueue } from '../loop/queue'
import type { Registry } from '../loop/tool'
import type { Model } from '../models/model'
import type { Budget } from '../policy/budget'
import type { Store } from '../store/store'
import type { StorageReport } from './log'
import type { AuditRecord } from './run/gates'

export interface SessionScope {
  readonly store: Store
  readonly registry: Registry
  /** One for all sessions: those that share a workspace share a lane (spec T5). */
  readonly queue: TaskQueue
  readonly budget: Budget
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
  readonly code: 'NOT_FOUND' | 'CONFLICT' | 'MODEL_FAILED'
  readonly message: string
}
export type Outcome<T> = { readonly ok: true; readonly value: T } | Refusal

export const done = <T>(value: T): Outcome<T> => ({ ok: true, value })
export const notFound = (message: string): Refusal => ({ ok: false, code: 'NOT_FOUND', message })
export const conflict = (message: string): Refusal => ({ ok: false, code: 'CONFLICT', message })
