// What was there before an effect (spec T8): which calls, which paths, and what the folders held at the last look. Contents lie in packs.
import type { Connection } from '../open/connection'

/** A call whose effect is kept, as a row. */
export interface KeptRow {
  readonly id: string
  readonly sessionId: string
  readonly runId: string
  readonly callId: string
  readonly tool: string
  readonly workspace: string
  /** Undefined: the whole workspace. */
  readonly paths?: readonly string[]
  readonly at: number
  readonly isUndo: boolean
  readonly undoneBy?: string
  readonly limits: readonly string[]
}
/** `before`, `after`: what the path held, as JSON; `null` for nothing there. `pack`: where the content of before is. */
export interface ChangeRow {
  readonly path: string
  readonly before: string
  readonly after: string | null
  readonly pack: number | null
  readonly added: number
  readonly removed: number
}
interface SeenRow {
  readonly path: string
  readonly node: string
  readonly pack: number | null
}

export interface KeptTable {
  /** Begins to keep a call: its effect has not ended. */
  open(row: KeptRow): void
  /** The effect has ended. */
  close(id: string, limits: readonly string[]): void
  remove(id: string): void
  /** Those of these ids, newest first. */
  find(ids: readonly string[]): KeptRow[]
  /** Of a session, newest first, without those whose effect has not ended. */
  list(sessionId: string): KeptRow[]
  /** Those whose effect had not ended when it was stored, oldest first. */
  opened(): KeptRow[]
  /** All that have ended, oldest first. */
  all(): { id: string; at: number }[]
  /** Sets or clears what undid a call. */
  setUndoneBy(id: string, by: string | null): void
  /** What was undone by `by` holds again. */
  release(by: string): void
  setChange(keptId: string, change: ChangeRow): void
  dropChange(keptId: string, path: string): void
  changes(keptId: string): ChangeRow[]
  /** The number of a folder that is looked through; it counts as used `at`. */
  root(path: string, at: number): number
  /** Folders that were looked through, those used longest ago first. */
  roots(): { path: string; usedAt: number }[]
  dropRoot(path: string): void
  seen(root: number): IterableIterator<SeenRow>
  setSeen(root: number, row: SeenRow): void
  dropSeen(root: number, path: string): void
  /** How often each pack is named. */
  packs(): Map<number, number>
}

interface Row {
  id: string
  session_id: string
  run_id: string
  call_id: string
  tool: string
  workspace: string
  paths: string | null
  at: number
  is_undo: number
  undone_by: string | null
  limits: string
}

export function keptTable(db: Connection): KeptTable {
  const open = db.prepare(
    `insert into kept (id, session_id, run_id, call_id, tool, workspace, paths, at, state, is_undo, limits)
     values (?, ?, ?, ?, ?, ?, ?, ?, 'open', ?, ?)`
  )
  const close = db.prepare("update kept set state = 'done', limits = ? where id = ?")
  const remove = db.prepare('delete from kept where id = ?')
  // rows are numbered as they come: two calls of one millisecond keep their order
  const find = db.prepare<[string], Row>('select * from kept where id in (select value from json_each(?)) order by rowid desc')
  const list = db.prepare<[string], Row>("select * from kept where session_id = ? and state = 'done' order by rowid desc")
  const opened = db.prepare<[], Row>("select * from kept where state = 'open' order by rowid")
  const all = db.prepare<[], { id: string; at: number }>("select id, at from kept where state = 'done' order by rowid")
  const setUndone = db.prepare('update kept set undone_by = ? where id = ?')
  const release = db.prepare('update kept set undone_by = null where undone_by = ?')
  const setChange = db.prepare(
    'insert or replace into kept_change (kept_id, path, before, after, pack, added, removed) values (?, ?, ?, ?, ?, ?, ?)'
  )
  const dropChange = db.prepare('delete from kept_change where kept_id = ? and path = ?')
  const changes = db.prepare<[string], ChangeRow>(
    'select path, before, after, pack, added, removed from kept_change where kept_id = ? order by path'
  )
  const root = db
    .prepare<[string, number], number>(
      'insert into seen_root (path, used_at) values (?, ?) on conflict (path) do update set used_at = excluded.used_at returning id'
    )
    .pluck()
  const roots = db.prepare<[], { path: string; usedAt: number }>('select path, used_at as usedAt from seen_root order by used_at')
  const dropRoot = db.prepare('delete from seen_root where path = ?')
  const seen = db.prepare<[number], SeenRow>('select path, node, pack from seen_file where root = ?')
  const setSeen = db.prepare('insert or replace into seen_file (root, path, node, pack) values (?, ?, ?, ?)')
  const dropSeen = db.prepare('delete from seen_file where root = ? and path = ?')
  const packs = db.prepare<[], { pack: number; n: number }>(
    `select pack, sum(n) as n from (
       select pack, count(*) as n from seen_file where pack is not null group by pack
       union all select pack, count(*) as n from kept_change where pack is not null group by pack
     ) group by pack`
  )
  return {
    open: (k) =>
      void open.run(
        k.id,
        k.sessionId,
        k.runId,
        k.callId,
        k.tool,
        k.workspace,
        k.paths ? JSON.stringify(k.paths) : null,
        k.at,
        k.isUndo ? 1 : 0,
        JSON.stringify(k.limits)
      ),
    close: (id, limits) => void close.run(JSON.stringify(limits), id),
    remove: (id) => void remove.run(id),
    find: (ids) => find.all(JSON.stringify(ids)).map(toKept),
    list: (sessionId) => list.all(sessionId).map(toKept),
    opened: () => opened.all().map(toKept),
    all: () => all.all(),
    setUndoneBy: (id, by) => void setUndone.run(by, id),
    release: (by) => void release.run(by),
    setChange: (id, c) => void setChange.run(id, c.path, c.before, c.after, c.pack, c.added, c.removed),
    dropChange: (id, path) => void dropChange.run(id, path),
    changes: (id) => changes.all(id),
    root: (path, at) => root.get(path, at) as number,
    roots: () => roots.all(),
    dropRoot: (path) => void dropRoot.run(path),
    seen: (id) => seen.iterate(id),
    setSeen: (id, row) => void setSeen.run(id, row.path, row.node, row.pack),
    dropSeen: (id, path) => void dropSeen.run(id, path),
    packs: () => new Map(packs.all().map((row) => [row.pack, row.n]))
  }
}

const toKept = (row: Row): KeptRow => ({
  id: row.id,
  sessionId: row.session_id,
  runId: row.run_id,
  callId: row.call_id,
  tool: row.tool,
  workspace: row.workspace,
  ...(row.paths !== null && { paths: JSON.parse(row.paths) as string[] }),
  at: row.at,
  isUndo: row.is_undo === 1,
  ...(row.undone_by !== null && { undoneBy: row.undone_by }),
  limits: JSON.parse(row.limits) as string[]
})
