// A damaged database is kept aside, and what can still be read of it goes into a new one (design §3.1 holds there too).
//
// Rows are read one range after another, so that a broken page costs the rows on it and no more. An entry whose parent is lost is put under the
// newest entry that was saved before it: its words matter more than the exact shape of the tree, and the person is told. What points to something
// lost goes; runs, events and the rest follow their session.
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import type { Connection } from './connection'

export interface Salvage {
  /** Where the damaged file is kept. */
  readonly kept: string
  /** Rows that were saved. */
  readonly rows: number
  /** Sessions that were saved. */
  readonly sessions: number
}

/** Parents before children. */
const TABLES = ['session', 'entry', 'event', 'run', 'call', 'approval', 'inbox', 'permission', 'label', 'side', 'imported_line'] as const
const BATCH = 200
/** Batches in a row without a row, after which a table without a known end is over. */
const BARREN = 50

/** Moves `file` (with its log) aside and fills the database that `create` makes in its place. */
export function salvage(file: string, create: () => Connection, now = new Date()): { db: Connection; salvage: Salvage } {
  const kept = `${file}.damaged-${now.toISOString().replaceAll(/[:.]/g, '-')}`
  renameSync(file, kept)
  for (const end of ['-wal', '-shm']) if (existsSync(file + end)) renameSync(file + end, kept + end)
  const copy = `${kept}.copy` // SQLite may change what it opens; what is kept stays as it was found
  copyFileSync(kept, copy)
  if (existsSync(`${kept}-wal`)) copyFileSync(`${kept}-wal`, `${copy}-wal`)
  const db = create()
  let rows = 0
  try {
    const old = new Database(copy)
    try {
      // without this a file that is shorter than it says is not read at all
      old.unsafeMode(true)
      old.pragma('writable_schema = ON')
      rows = copyRows(old, db)
    } finally {
      old.close()
    }
  } catch {
    // not even a database any more: we begin empty
  }
  for (const end of ['', '-wal', '-shm']) rmSync(copy + end, { force: true })
  const sessions = Number(db.prepare('select count(*) from session').pluck().get())
  return { db, salvage: { kept, rows, sessions } }
}

function copyRows(old: Connection, db: Connection): number {
  let rows = 0
  db.pragma('foreign_keys = OFF')
  db.transaction(() => {
    for (const table of TABLES) {
      const columns = columnsOf(db, table)
      for (const row of readable(old, table)) {
        const names = columns.filter((c) => c in row)
        if (names.length === 0) continue
        const sql = `insert or ignore into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`
        try {
          rows += db.prepare(sql).run(...names.map((c) => row[c])).changes
        } catch {
          // a row that does not fit its table is damaged as well
        }
      }
    }
    mend(db)
  })()
  db.pragma('foreign_keys = ON')
  return rows
}

const columnsOf = (db: Connection, table: string): string[] =>
  db.prepare<[string], string>('select name from pragma_table_info(?)').pluck().all(table)

/** Rows of a table, past what cannot be read. */
function* readable(old: Connection, table: string): Generator<Record<string, unknown>> {
  const withRowid = table !== 'event' && table !== 'call' && table !== 'permission' && table !== 'label' && table !== 'imported_line'
  if (!withRowid) {
    yield* rowsInOrder(old, table)
    return
  }
  const last = attempt(() => Number(old.prepare(`select coalesce(max(rowid), 0) from ${table}`).pluck().get())) ?? Infinity
  let barren = 0
  // a table whose end is gone has no end to reach: it is over when nothing comes for long
  for (let from = 0; from <= last && barren < BARREN; from += BATCH) {
    const whole = attempt(() => old.prepare(`select * from ${table} where rowid between ? and ?`).all(from, from + BATCH - 1))
    barren = whole && whole.length === 0 && last !== Infinity ? 0 : barren + 1
    if (whole) {
      if (whole.length > 0) barren = 0
      yield* whole as Record<string, unknown>[]
    } else
      for (let id = from; id < from + BATCH; id++) {
        const row = attempt(() => old.prepare(`select * from ${table} where rowid = ?`).get(id))
        if (row) barren = 0
        if (row) yield row as Record<string, unknown>
      }
  }
}

/** Tables without row ids are read from both ends towards the damage. */
function* rowsInOrder(old: Connection, table: string): Generator<Record<string, unknown>> {
  for (const order of ['', ' desc']) {
    const key =
      attempt(() => old.prepare<[string], string>('select name from pragma_table_info(?) where pk > 0 order by pk').pluck().all(table)) ??
      []
    const by = key.length === 0 ? '' : ` order by ${key.map((k) => k + order).join(', ')}`
    try {
      for (const row of old.prepare(`select * from ${table}${by}`).iterate()) yield row as Record<string, unknown>
      return
    } catch {
      // the other end may still be whole
    }
  }
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Makes what was saved a valid database: pointers lead to what exists, event numbers have no gaps, runs that were open are closed by recovery. */
function mend(db: Connection): void {
  const triggers = db.prepare<[], { name: string; sql: string }>("select name, sql from sqlite_master where type = 'trigger'").all()
  for (const { name } of triggers) db.exec(`drop trigger ${name}`)
  db.exec(`
    insert or ignore into session (id, title, workspace, model, state, created_at, updated_at)
      select distinct session_id, '', '', '', 'interrupted', min(at), max(at) from entry where session_id not in (select id from session) group by session_id;
    update entry set parent_id = (
      select before.id from entry before where before.session_id = entry.session_id and before.n < entry.n order by before.n desc limit 1
    ) where parent_id is not null and not exists (select 1 from entry p where p.session_id = entry.session_id and p.id = entry.parent_id);
    update session set head = (select id from entry where session_id = session.id order by n desc limit 1)
      where head is null or not exists (select 1 from entry e where e.session_id = session.id and e.id = session.head);
  `)
  for (const table of ['event', 'run', 'inbox', 'permission', 'label', 'side', 'imported_line', 'approval'])
    db.exec(`delete from ${table} where session_id not in (select id from session)`)
  db.exec(`
    delete from approval where run_id not in (select id from run);
    delete from call where run_id not in (select id from run);
    delete from label where entry_id not in (select id from entry);
    update imported_line set entry_id = null where entry_id is not null and entry_id not in (select id from entry);
    delete from side where (from_entry is not null and from_entry not in (select id from entry)) or (home is not null and home not in (select id from entry));
  `)
  for (const id of db.prepare<[], string>('select id from session').pluck().all()) {
    const rows = db.prepare<[string], { seq: number }>('select seq from event where session_id = ? order by seq').all(id)
    for (const [i, { seq }] of rows.entries()) {
      if (seq === i + 1) continue
      db.prepare('update event set seq = ? where session_id = ? and seq = ?').run(i + 1, id, seq)
      db.prepare('update run set first_seq = ? where session_id = ? and first_seq = ?').run(i + 1, id, seq)
    }
  }
  for (const { sql } of triggers) db.exec(sql)
}
