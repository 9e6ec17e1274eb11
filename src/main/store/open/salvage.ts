// What can be read of a damaged database goes into a new one (design §3.1 holds there too), and the damaged one is kept aside.
//
// Rows are put in parents first, with every rule of the schema in force, so what does not fit is not taken. An entry whose parent is lost is put
// under the newest entry of its session that was saved before it: its words matter more than the exact shape of the tree, and most trees are long
// chains, where that is the nearest ancestor left. What an event tells of and is lost takes the event with it; the others are numbered anew.
import { dirname, join } from 'node:path'
import { isObject, type Json, parseJson } from '../../../shared/json'
import { Entry, Session } from '../../../shared/session'
import { toEntry } from '../tables/entries'
import type { Connection } from './connection'
import { byNumber, byOwner, byRowid, type Row } from './rows'

export interface Salvage {
  /** Sessions and entries that were saved. */
  readonly sessions: number
  readonly saved: number
  /** Entries that saved events tell of and that are lost: there may be more. */
  readonly lost: number
}

/** Copies from `old` what can be read of it into `db`, which is empty. `file`: where the database belongs. */
export function salvage(old: Connection, db: Connection, file: string): Salvage {
  return db.transaction(() => {
    const put = putInto(db)
    const sessions = new Map<string, Row>()
    for (const row of byRowid(old, 'session')) {
      // entries are not there yet for it to point to
      if (typeof row['id'] === 'string' && put('session', { ...row, head: null })) sessions.set(row['id'], row)
    }
    const entries = putEntries(old, db, put, sessions, file)
    const { numbers, lost } = putEvents(old, put, sessions, entries)
    putRuns(old, put, entries, numbers)
    for (const row of byRowid(old, 'approval')) if (parseJson(text(row['request'])) !== undefined) put('approval', row)
    for (const row of byRowid(old, 'inbox')) put('inbox', { position: row['at'], ...row })
    for (const row of byRowid(old, 'side')) put('side', row)
    for (const row of byRowid(old, 'granted')) if (parseJson(text(row['rule'])) !== undefined) put('granted', row)
    for (const id of sessions.keys()) {
      const owner = ['session_id', id] as const
      // of before version 3: a tool that was allowed by its name
      for (const { tool, at } of byOwner(old, 'permission', owner))
        put('granted', {
          id: `${id}:${text(tool)}`,
          workspace: sessions.get(id)?.['workspace'],
          session_id: id,
          rule: JSON.stringify({ verdict: 'allow', tool }),
          at
        })
      for (const row of byOwner(old, 'kept', owner))
        if (put('kept', { ...row, undone_by: null }))
          for (const change of byOwner(old, 'kept_change', ['kept_id', text(row['id'])])) put('kept_change', change)
      for (const row of byOwner(old, 'label', owner)) put('label', row)
      for (const row of byNumber(old, 'imported_line', owner, 'n'))
        put('imported_line', entries.has(text(row['entry_id'])) ? row : { ...row, entry_id: null })
    }
    return { sessions: sessions.size, saved: entries.size, lost }
  })()
}

type Put = (table: string, row: Row) => boolean

/** Inserts rows; false for one that breaks a rule of its table. Columns that the table does not have are left out. */
function putInto(db: Connection): Put {
  const tables = new Map<string, ReadonlySet<string>>()
  const inserts = new Map<string, { readonly run: (...values: unknown[]) => unknown }>()
  const columnsOf = (table: string): ReadonlySet<string> => {
    const columns = tables.get(table) ?? new Set(db.prepare<[string], string>('select name from pragma_table_info(?)').pluck().all(table))
    tables.set(table, columns)
    return columns
  }
  return (table, row) => {
    const names = Object.keys(row).filter((name) => columnsOf(table).has(name))
    const sql = `insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`
    try {
      const insert = inserts.get(sql) ?? db.prepare(sql)
      inserts.set(sql, insert)
      insert.run(...names.map((name) => row[name]))
      return true
    } catch (error) {
      // a full disk is no property of the row
      if (error instanceof Error && 'code' in error && /^SQLITE_(FULL|IOERR|READONLY)/.test(String(error.code))) throw error
      return false
    }
  }
}

/** Entries by id, with the session each is in. Sessions whose row is lost are made anew. */
function putEntries(old: Connection, db: Connection, put: Put, sessions: Map<string, Row>, file: string): ReadonlyMap<string, string> {
  const entries = new Map<string, string>()
  const newest = new Map<string, string>()
  for (const row of byRowid(old, 'entry')) {
    const { id, session_id: sessionId, parent_id: parent } = row
    if (typeof id !== 'string' || typeof sessionId !== 'string' || !isEntry(row)) continue
    if (!sessions.has(sessionId)) {
      const made = lostSession(old, sessionId, Number(row['at']), file)
      if (!put('session', made)) continue
      sessions.set(sessionId, made)
    }
    const parentId = parent === null || entries.get(text(parent)) === sessionId ? parent : (newest.get(sessionId) ?? null)
    if (!put('entry', { ...row, parent_id: parentId })) continue
    entries.set(id, sessionId)
    newest.set(sessionId, id)
  }
  const setHead = db.prepare('update session set head = ? where id = ?')
  for (const [id, { head }] of sessions) setHead.run(entries.get(text(head)) === id ? head : (newest.get(id) ?? null), id)
  return entries
}

/** Whether the row of an entry holds what its type says: bytes of a broken page may be anything. */
function isEntry(row: Row): boolean {
  try {
    return Entry.safeParse(toEntry(row as unknown as Parameters<typeof toEntry>[0])).success
  } catch {
    return false
  }
}

/**
 * A session whose own row is lost, as its newest event tells of it. Where none does, its folder is one that does not exist: a tool may see nothing
 * then until the person has chosen.
 */
function lostSession(old: Connection, id: string, at: number, file: string): Row {
  let told: Session | undefined
  for (const row of byNumber(old, 'event', ['session_id', id], 'seq')) {
    if (row['type'] !== 'session') continue
    const payload = parseJson(text(row['payload']))
    const read = Session.safeParse(isObject(payload) ? payload['session'] : undefined)
    if (read.success) told = read.data
  }
  return {
    id,
    title: told?.title ?? '',
    workspace: told?.workspace ?? join(dirname(file), 'unknown-folder'),
    model: told?.model ?? '',
    state: 'interrupted',
    head: null,
    created_at: told?.createdAt ?? at,
    updated_at: told?.updatedAt ?? at
  }
}

/** New numbers of each session's events by old ones, in order; and how many entries they tell of that are lost. */
function putEvents(
  old: Connection,
  put: Put,
  sessions: ReadonlyMap<string, Row>,
  entries: ReadonlyMap<string, string>
): { numbers: ReadonlyMap<string, readonly [was: number, is: number][]>; lost: number } {
  const numbers = new Map<string, [number, number][]>()
  let lost = 0
  for (const id of sessions.keys()) {
    const known: [number, number][] = []
    numbers.set(id, known)
    for (const row of byNumber(old, 'event', ['session_id', id], 'seq')) {
      const payload = parseJson(text(row['payload']))
      if (!isObject(payload)) continue
      const entryId = toldEntry(payload)
      if (entryId !== undefined && entries.get(entryId) !== id) lost++
      else if (put('event', { ...row, seq: known.length + 1 })) known.push([Number(row['seq']), known.length + 1])
    }
  }
  return { numbers, lost }
}

/** The entry that `message_end` and `entry` tell of; older ones hold it whole. */
function toldEntry({ entryRef, entry }: Json): string | undefined {
  if (typeof entryRef === 'string') return entryRef
  return isObject(entry) && typeof entry['id'] === 'string' ? entry['id'] : undefined
}

function putRuns(
  old: Connection,
  put: Put,
  entries: ReadonlyMap<string, string>,
  numbers: ReadonlyMap<string, readonly [was: number, is: number][]>
): void {
  const orNull = (id: unknown): unknown => (entries.has(text(id)) ? id : null)
  for (const row of byRowid(old, 'run')) {
    const events = numbers.get(text(row['session_id'])) ?? []
    // where its first event is lost it begins with the next one
    const first = events.find(([was]) => was >= Number(row['first_seq']))?.[1] ?? events.length + 1
    if (!put('run', { ...row, base: orNull(row['base']), first_seq: first })) continue
    for (const call of byOwner(old, 'call', ['run_id', text(row['id'])])) put('call', { ...call, entry_id: orNull(call['entry_id']) })
  }
}

/** What is no text is nothing: no id is empty. */
const text = (value: unknown): string => (typeof value === 'string' ? value : '')
