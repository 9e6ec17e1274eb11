// Sessions: their heads, modes, names on nodes, and the bin.
import type { Mode } from '../../../shared/policy'
import type { QueueMode, RunState, Session } from '../../../shared/session'
import type { Connection } from '../open/connection'

interface StoredSession extends Session {
  readonly head: string | null
}
export interface SessionTable {
  insert(session: Session): void
  /** Undefined when there is no such session. */
  find(id: string): StoredSession | undefined
  /** Newest first: those of the bin, or those outside it, archived or not. */
  list(which: 'open' | 'archived' | 'binned'): Session[]
  rename(id: string, title: string): void
  archive(id: string, archived: boolean): void
  /** `at`: into the bin; undefined: out of it. */
  bin(id: string, at: number | undefined): void
  /** Deletes a session of the bin and all it holds. Throws when it is not in the bin. */
  purge(id: string): void
  setModel(id: string, model: string): void
  setMode(id: string, mode: Mode): void
  setState(id: string, state: RunState): void
  setHead(id: string, head: string | null): void
  /** Sets the time of the newest change. */
  touch(id: string, at: number): void
  setQueueModes(id: string, steer: QueueMode, followUp: QueueMode): void
  /** Names on nodes, by entry id. */
  labels(id: string): Record<string, string>
  setLabel(id: string, entryId: string, label: string | null, at: number): void
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
  binned_at: number | null
  forked_session: string | null
  forked_entry: string | null
  steer_mode: string
  follow_up_mode: string
  mode: string
}

/** Tables that belong to a session, children before parents. */
const OWNED = ['imported_line', 'side', 'label', 'granted', 'kept', 'inbox', 'approval', 'call', 'run', 'event', 'entry']

export function sessionTable(db: Connection): SessionTable {
  const insert = db.prepare(
    `insert into session (id, title, workspace, model, archived, state, created_at, updated_at, forked_session, forked_entry, steer_mode, follow_up_mode, mode)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
  )
  const find = db.prepare<[string], SessionRow>('select * from session where id = ?')
  const list = db.prepare<[number], SessionRow>(
    'select * from session where archived = ? and binned_at is null order by updated_at desc, id desc'
  )
  const binned = db.prepare<[], SessionRow>('select * from session where binned_at is not null order by binned_at desc, id desc')
  const rename = db.prepare('update session set title = ? where id = ?')
  const archive = db.prepare('update session set archived = ? where id = ?')
  const bin = db.prepare('update session set binned_at = ? where id = ?')
  const setModel = db.prepare('update session set model = ? where id = ?')
  const setMode = db.prepare('update session set mode = ? where id = ?')
  const setState = db.prepare('update session set state = ? where id = ?')
  const setHead = db.prepare('update session set head = ? where id = ?')
  const touch = db.prepare('update session set updated_at = ? where id = ?')
  const setModes = db.prepare('update session set steer_mode = ?, follow_up_mode = ? where id = ?')
  const labels = db.prepare<[string], { entry_id: string; label: string }>('select entry_id, label from label where session_id = ?')
  const setLabel = db.prepare('insert or replace into label (session_id, entry_id, label, at) values (?, ?, ?, ?)')
  const dropLabel = db.prepare('delete from label where session_id = ? and entry_id = ?')
  return {
    insert: (s) => {
      const { sessionId = null, entryId = null } = s.forkedFrom ?? {}
      const first = [s.id, s.title, s.workspace, s.model, s.archived ? 1 : 0, s.state, s.createdAt, s.updatedAt]
      insert.run(...first, sessionId, entryId, s.steerMode, s.followUpMode, s.mode)
    },
    find: (id) => {
      const row = find.get(id)
      return row && { ...toSession(row), head: row.head }
    },
    list: (which) => (which === 'binned' ? binned.all() : list.all(which === 'archived' ? 1 : 0)).map(toSession),
    rename: (id, title) => void rename.run(title, id),
    archive: (id, archived) => void archive.run(archived ? 1 : 0, id),
    bin: (id, at) => void bin.run(at ?? null, id),
    purge: (id) => {
      if (find.get(id)?.binned_at == null) throw new Error(`session ${id} is not in the bin`)
      db.prepare('update session set head = null where id = ?').run(id)
      for (const table of OWNED) {
        const of = table === 'call' ? 'run_id in (select id from run where session_id = ?)' : 'session_id = ?'
        db.prepare(`delete from ${table} where ${of}`).run(id)
      }
      db.prepare('delete from session where id = ?').run(id)
    },
    setModel: (id, model) => void setModel.run(model, id),
    setMode: (id, mode) => void setMode.run(mode, id),
    setState: (id, state) => void setState.run(state, id),
    setHead: (id, head) => void setHead.run(head, id),
    touch: (id, at) => void touch.run(at, id),
    setQueueModes: (id, steer, followUp) => void setModes.run(steer, followUp, id),
    labels: (id) => Object.fromEntries(labels.all(id).map((r) => [r.entry_id, r.label])),
    setLabel: (id, entryId, label, at) => {
      if (label === null) dropLabel.run(id, entryId)
      else setLabel.run(id, entryId, label, at)
    }
  }
}

const toSession = (row: SessionRow): Session => ({
  id: row.id,
  title: row.title,
  workspace: row.workspace,
  model: row.model,
  archived: row.archived === 1,
  mode: row.mode as Mode,
  ...(row.binned_at !== null && { binnedAt: row.binned_at }),
  ...(row.forked_session !== null &&
    row.forked_entry !== null && { forkedFrom: { sessionId: row.forked_session, entryId: row.forked_entry } }),
  steerMode: row.steer_mode as QueueMode,
  followUpMode: row.follow_up_mode as QueueMode,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  state: row.state as RunState
})
