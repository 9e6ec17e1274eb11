// Words of the person on their way into a run (design §4, inbox): queued → taken (by which run, at which turn) or withdrawn.
import type { InboxItem } from '../../shared/session'
import type { Connection } from './database'

/** `prompt` starts a run at once and never waits in the queue. */
type InboxKind = InboxItem['kind'] | 'prompt'

export interface InboxTable {
  /** False when the session has an item of that id exists already (the same message was sent twice). */
  add(sessionId: string, item: Omit<InboxItem, 'kind'> & { kind: InboxKind }): boolean
  /** Items that wait, oldest first. */
  waiting(sessionId: string): InboxItem[]
  take(sessionId: string, id: string, runId: string, turn: number): void
  /** The item when it was still waiting. */
  withdraw(sessionId: string, id: string): InboxItem | undefined
}

interface InboxRow {
  id: string
  kind: string
  text: string
  at: number
}

export function inboxTable(db: Connection): InboxTable {
  const add = db.prepare("insert or ignore into inbox (id, session_id, kind, text, at, state) values (?, ?, ?, ?, ?, 'queued')")
  const waiting = db.prepare<[string], InboxRow>(
    "select id, kind, text, at from inbox where session_id = ? and state = 'queued' order by at, rowid"
  )
  const take = db.prepare("update inbox set state = 'taken', taken_run = ?, taken_turn = ? where session_id = ? and id = ?")
  const withdraw = db.prepare<[string, string], InboxRow>(
    "update inbox set state = 'withdrawn' where session_id = ? and id = ? and state = 'queued' returning id, kind, text, at"
  )
  const toItem = (row: InboxRow): InboxItem => ({ ...row, kind: row.kind as InboxItem['kind'] })
  return {
    add: (sessionId, item) => add.run(item.id, sessionId, item.kind, item.text, item.at).changes === 1,
    waiting: (sessionId) => waiting.all(sessionId).map(toItem),
    take: (sessionId, id, runId, turn) => void take.run(runId, turn, sessionId, id),
    withdraw: (sessionId, id) => {
      const row = withdraw.get(sessionId, id)
      return row && toItem(row)
    }
  }
}
