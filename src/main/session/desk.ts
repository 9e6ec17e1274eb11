// What is true of one open session, in one place: every file of the session works on it, nobody else does. Whatever is changed here was stored
// before, or is stored before anything else is (log.ts).
import type { EventDraft, SessionEvent } from '../../shared/event'
import type { Entry, InboxItem, Run, RunState, Session } from '../../shared/session'
import type { Context, ContextFrame } from './context/context'
import type { EventLog } from './log'
import type { SessionScope } from './scope'

export type Add = (draft: EventDraft) => SessionEvent

/** A run that has not ended. */
export interface ActiveRun {
  run: Run
  /** The entry that its next one follows. */
  tip: string | null
  /** Ends the run. */
  readonly stop: AbortController
  /** Ends the present turn; the run then goes on with what the person said. */
  turnStop: AbortController
  /** The calls of the present turn, each of which the person may stop by itself. */
  readonly calls: Map<string, AbortController>
  /** The person interrupted before the turn began. */
  interrupted: boolean
  /** The person was asked something. */
  asked: boolean
  /** It waits for an answer that it was asked before Tau ended; nothing of it runs in this process yet. */
  parked: boolean
  /** Tau ends while it waits for a person: it is not ended, and nothing more of it is recorded. */
  left: boolean
  done: Promise<void>
}

export interface Desk {
  readonly id: string
  readonly scope: SessionScope
  readonly log: EventLog
  info: Session
  head: string | null
  active: ActiveRun | undefined
  /** A run ended in memory, but its end could not be stored: first of all it must be (run/runs.ts). */
  endIsMissing: boolean
  /** What the model sees at an entry, kept from one run to the next. */
  context: { readonly tip: string | null; readonly frame: ContextFrame; readonly value: Context } | undefined
  /** Messages that wait, as they are stored; undefined: to be read again. */
  queue: readonly InboxItem[] | undefined
  /** A branch is being summed up. */
  summing: AbortController | undefined
}

/** An entry that was stored: the head follows when it was at its parent, and so does the run that made it. */
export function added(desk: Desk, entry: Entry, by?: ActiveRun): void {
  if (desk.head === entry.parentId) desk.head = entry.id
  if (by) by.tip = entry.id
  desk.info = { ...desk.info, updatedAt: entry.at }
}

/** Stores and tells another state of the run that goes on. */
export function setRunState(desk: Desk, state: RunState): void {
  const { active, scope, log, id } = desk
  if (!active || active.left || active.run.state === state) return
  active.run = { ...active.run, state }
  const runId = active.run.id
  log.defer({
    draft: { type: 'state', runId, state },
    row: () => {
      scope.store.runs.setState(runId, state)
      scope.store.sessions.setState(id, state)
    }
  })
  desk.info = { ...desk.info, state }
  scope.changed(desk.info)
}

/** Stores and tells another title, model, mark … of the session. */
export function change(desk: Desk, next: Session, write: () => void): Session {
  desk.log.commit((add) => {
    write()
    add({ type: 'session', session: next })
  })
  desk.info = next
  desk.scope.changed(next)
  return next
}

export const isEntry = (desk: Desk, id: string): boolean => desk.scope.store.entries.find(desk.id, id) !== undefined
