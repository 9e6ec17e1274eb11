// Sessions and the entries of their trees.
import type { Message } from '../../shared/message'
import type { Entry, RunState, Session } from '../../shared/session'
import type { Connection } from './database'

interface StoredSession extends Session {
  readonly head: string | null
}
export interface SessionTable {
  insert(session: Session): void
  /** Undefined when there is no such session. */
  find(id: string): StoredSession | undefined
  /** Newest first. */
  list(archived: boolean): Session[]
  rename(id: string, title: string): void
  archive(id: string, archived: boolean): void
  setModel(id: string, model: string): void
  setState(id: string, state: RunState): void
  setHead(id: string, head: string | null): void
  /** Stores an entry and makes it the head. Throws when its parent is not stored in the same session. */
  addEntry(entry: Entry): void
  entry(sessionId: string, id: string): Entry | undefined
  /** Every entry of a session in the order it was stored. */
  entries(sessionId: string): Entry[]
  /** Tools that need no further answer in this session. */
  permissions(sessionId: string): string[]
  permit(sessionId: string, tool: string, at: number): void
}

interface SessionRow {
  id: string
  title: string
  workspace: string
  model: string
  archived: number
  state: string
  head: string | null
  created_at: number
  updated_at: number
}
interface EntryRow {
  id: string
  session_id: string
  parent_id: string | null
  at: number
  type: string
  payload: string
}

export function sessionTable(db: Connection): SessionTable {
  const insert = db.prepare(
    'insert into session (id, title, workspace, model, archived, state, created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?, ?)'
  )
  const find = db.prepare<[string], SessionRow>('select * from session where id = ?')
  const list = db.prepare<[number], SessionRow>('select * from session where archived = ? order by updated_at desc, id desc')
  const rename = db.prepare('update session set title = ? where id = ?')
  const archive = db.prepare('update session set archived = ? where id = ?')
  const setModel = db.prepare('update session set model = ? where id = ?')
  const setState = db.prepare('update session set state = ? where id = ?')
  const setHead = db.prepare('update session set head = ? where id = ?')
  const addEntry = db.prepare('insert into entry (id, session_id, parent_id, at, type, payload) values (?, ?, ?, ?, ?, ?)')
  const advance = db.prepare('update session set head = ?, updated_at = ? where id = ?')
  const entry = db.prepare<[string, string], EntryRow>('select * from entry where session_id = ? and id = ?')
  const entries = db.prepare<[string], EntryRow>('select * from entry where session_id = ? order by n')
  const permissions = db.prepare<[string], { tool: string }>('select tool from permission where session_id = ? order by tool')
  const permit = db.prepare('insert or ignore into permission (session_id, tool, at) values (?, ?, ?)')
  return {
    insert: (s) => {
      insert.run(s.id, s.title, s.workspace, s.model, s.archived ? 1 : 0, s.state, s.createdAt, s.updatedAt)
    },
    find: (id) => {
      const row = find.get(id)
      return row && { ...toSession(row), head: row.head }
    },
    list: (archived) => list.all(archived ? 1 : 0).map(toSession),
    rename: (id, title) => void rename.run(title, id),
    archive: (id, archived) => void archive.run(archived ? 1 : 0, id),
    setModel: (id, model) => void setModel.run(model, id),
    setState: (id, state) => void setState.run(state, id),
    setHead: (id, head) => void setHead.run(head, id),
    addEntry: (e) => {
      addEntry.run(e.id, e.sessionId, e.parentId, e.at, e.type, JSON.stringify(e.message))
      advance.run(e.id, e.at, e.sessionId)
    },
    entry: (sessionId, id) => {
      const row = entry.get(sessionId, id)
      return row && toEntry(row)
    },
    entries: (sessionId) => entries.all(sessionId).map(toEntry),
    permissions: (sessionId) => permissions.all(sessionId).map((r) => r.tool),
    permit: (sessionId, tool, at) => void permit.run(sessionId, tool, at)
  }
}

const toSession = (row: SessionRow): Session => ({
  id: row.id,
  title: row.title,
  workspace: row.workspace,
  model: row.model,
  archived: row.archived === 1,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  state: row.state as RunState
})

// Payloads were checked by their types when they were written; the only writer is this program (design §3.2).
const toEntry = (row: EntryRow): Entry => ({
  id: row.id,
  sessionId: row.session_id,
  parentId: row.parent_id,
  at: row.at,
  type: 'message',
  message: JSON.parse(row.payload) as Message
})
