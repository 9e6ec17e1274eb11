// The SQLite file of a data folder: opening, settings, schema. Everything above it works on prepared statements.
import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import type { Connection } from './connection'
import { salvage, type Salvage } from './salvage'
import { migrations } from './schema'
import { hasTornTail } from './wal'

/** Why a data folder cannot be used; `code` is one of `newer`, `unwritable`, `in_use`. The message says what to do. */
export class StoreError extends Error {
  readonly code: 'newer' | 'unwritable' | 'in_use'
  constructor(code: StoreError['code'], message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'StoreError'
    this.code = code
  }
}

/** What the person should know of how a database was opened. */
export interface StoreNotice {
  /** `salvaged`: it was damaged, and what could be read was saved. `torn_tail`: a power cut took what was written last. */
  readonly code: 'salvaged' | 'torn_tail' | 'read_only'
  readonly message: string
}

/**
 * Opens the database in `file`, makes it when it is missing, and brings its schema up to date. A damaged one is kept aside and what can be read
 * of it is saved. Throws StoreError; touches nothing then.
 */
export function openDatabase(file: string): { db: Connection; notices: StoreNotice[] } {
  const notices: StoreNotice[] = []
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    if (hasTornTail(`${file}-wal`)) notices.push({ code: 'torn_tail', message: TORN })
    const db = open(file)
    if (db) return { db, notices }
    const { db: fresh, salvage: saved } = salvage(file, () => open(file) as Connection)
    notices.push({ code: 'salvaged', message: salvaged(saved) })
    return { db: fresh, notices }
  } catch (error) {
    throw asStoreError(error, file)
  }
}

/** Undefined when the file is damaged. */
function open(file: string): Connection | undefined {
  const isNew = !existsSync(file)
  let db: Connection | undefined
  try {
    db = new Database(file)
    db.pragma('busy_timeout = 500') // the whole program stands still meanwhile; who can wait longer waits outside (session.ts)
    const version = Number(db.pragma('user_version', { simple: true }))
    if (version > migrations.length) {
      throw new StoreError(
        'newer',
        `${file} was written by a newer Tau (schema ${String(version)}). Install that version, or choose another --home.`
      )
    }
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = NORMAL')
    db.pragma('foreign_keys = ON')
    if (!isNew && db.pragma('quick_check(1)', { simple: true }) !== 'ok') {
      db.close()
      return undefined
    }
    migrate(db)
    return db
  } catch (error) {
    db?.close()
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT')) return undefined
    throw error
  }
}

const TORN =
  'The computer went off in the middle of a write: what was written in that moment may be missing. Everything before it is there, and nothing needs to be done.'
const salvaged = ({ kept, rows, sessions }: Salvage): string =>
  `The database was damaged. ${String(sessions)} sessions (${String(rows)} rows) were saved from it; what could not be read is missing. The damaged file is kept as ${kept}.`

function migrate(db: Connection): void {
  for (const [index, sql] of migrations.entries()) {
    // asked for inside the transaction: of two programs that start at once, the second finds the work done
    const step = db.transaction(() => {
      if (Number(db.pragma('user_version', { simple: true })) > index) return
      db.exec(sql)
      db.pragma(`user_version = ${String(index + 1)}`)
    })
    step.immediate()
  }
}

function asStoreError(error: unknown, file: string): Error {
  if (error instanceof StoreError) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (/^(SQLITE_(CANTOPEN|READONLY|FULL|IOERR)|EACCES|EROFS|ENOSPC|EPERM|ENOTDIR|EEXIST)/.test(code)) {
    return new StoreError(
      'unwritable',
      `${file} cannot be opened for writing (${code}). Check the folder and the free space, or choose another --home.`,
      error
    )
  }
  return error instanceof Error ? error : new Error(String(error))
}
