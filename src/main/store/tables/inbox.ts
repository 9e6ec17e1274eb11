// Words of the person on their way into a run (design §4, inbox): queued or held → taken (by which run, at which turn) or withdrawn.
import type { InboxItem } from '../../../shared/session'
import type { Connection } from '../open/connection'

export interface InboxTable {
  /** False when the session knows an item of that id already (the same message was sent twice). */
  add(sessionId: string, item: InboxItem): boolean
  /** Words that begin a run at once. False when they are known. */
  addTaken(sessionId: string, item: Pick<InboxItem, 'id' | 'text' | 'at'>, runId: string): boolean
  /** Items that wait, in the order in which they will go. */
  waiting(sessionId: string): InboxItem[]
  /** Words, kind, place or `held` of an item that waits. */
  change(sessionId: string, item: InboxItem): void
  take(sessionId: string, id: string, runId: string, turn: number): void
  withdraw(sessionId: string, id: string): void
}

interface InboxRow {
  id: string
  kind: string
  text: string
  at: number
  position: number
  state: string
  parent_id: string | null
}
/** Stands for the root in the column `parent_id`, where null means "wherever the run is". */
const ROOT = ''

export function inboxTable(db: Connection): InboxTable {
  const add = db.prepare(
    'insert or ignore into inbox (id, session_id, kind, text, at, position, state, parent_id) values (?, ?, ?, ?, ?, ?, ?, ?)'
  )
  const addTaken = db.prepare(
    "insert or ignore into inbox (id, session_id, kind, text, at, position, state, taken_run, taken_turn) values (?, ?, 'prompt', ?, ?, 0, 'taken', ?, 1)"
  )
  const waiting = db.prepare<[string], InboxRow>(
    "select id, kind, text, at, position, state, parent_id from inbox where session_id = ? and state in ('queued', 'held') order by position, rowid"
  )
  const change = db.prepare(
    "update inbox set kind = ?, text = ?, position = ?, state = ? where session_id = ? and id = ? and state in ('queued', 'held')"
  )
  const take = db.prepare("update inbox set state = 'taken', taken_run = ?, taken_turn = ? where session_id = ? and id = ?")
  const withdraw = db.prepare("update inbox set state = 'withdrawn' where session_id = ? and id = ?")
  const stateOf = (item: { held: boolean }): string => (item.held ? 'held' : 'queued')
  return {
    add: (sessionId, i) => {
      const parent = i.parentId === undefined ? null : (i.parentId ?? ROOT)
      return add.run(i.id, sessionId, i.kind, i.text, i.at, i.position, stateOf(i), parent).changes === 1
    },
    addTaken: (sessionId, i, runId) => addTaken.run(i.id, sessionId, i.text, i.at, runId).changes === 1,
    waiting: (sessionId) => waiting.all(sessionId).map(toItem),
    change: (sessionId, i) => void change.run(i.kind, i.text, i.position, stateOf(i), sessionId, i.id),
    take: (sessionId, id, runId, turn) => void take.run(runId, turn, sessionId, id),
    withdraw: (sessionId, id) => void withdraw.run(sessionId, id)
  }
}

const toItem = ({ state, parent_id, kind, ...row }: InboxRow): InboxItem => ({
  ...row,
  kind: kind as InboxItem['kind'],
  held: state === 'held',
  ...(parent_id !== null && { parentId: parent_id === ROOT ? null : parent_id })
})
