// The SQLite file of a data folder: opening, settings, schema. Everything above it works on prepared statements.
import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import type { Connection } from './connection'
import { exchange, finishExchange } from './keep'
import { migrations } from './schema'
import { hasTornTail, storedVersion } from './wal'

/** Why a data folder cannot be used. The message says what to do. */
export class StoreError extends Error {
  readonly code: 'newer' | 'unwritable' | 'unreadable' | 'in_use'
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
  /** In plain words, with what to do. */
  readonly message: string
  /** The damaged file, or the folder that cannot be written. */
  readonly path?: string
  /** Entries that were saved from a damaged database, and those that are missing for certain. */
  readonly saved?: number
  readonly lost?: number
}

/** No Tau will ever have a schema with such a number: it comes from damage. */
const NO_VERSION = 10_000

/**
 * Opens the database in `file`, makes it when it is missing, and brings its schema up to date. A damaged one is kept aside and what can be read
 * of it is saved. Throws StoreError; touches nothing then.
 */
export function openDatabase(file: string): { db: Connection; notices: StoreNotice[] } {
  const notices: StoreNotice[] = []
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const version = storedVersion(file) ?? 0
    if (version > migrations.length && version < NO_VERSION) throw newer(file, version)
    const before = finishExchange(file)
    if (before !== undefined) notices.push({ code: 'salvaged', message: `${SAVED} The damaged file is kept as ${before}.`, path: before })
    if (hasTornTail(`${file}-wal`)) notices.push({ code: 'torn_tail', message: TORN })
    const db = open(file)
    if (db) return { db, notices }
    const { kept, sessions, saved, lost } = exchange(file, create)
    const missing = lost > 0 ? `At least ${String(lost)} entries are missing.` : 'What could not be read is missing.'
    notices.push({
      code: 'salvaged',
      message: `The database was damaged. ${String(saved)} entries of ${String(sessions)} sessions were saved from it. ${missing} The damaged file is kept as ${kept}: put a backup in its place if you have one, or delete it when you miss nothing.`,
      path: kept,
      saved,
      lost
    })
    return { db: create(file), notices }
  } catch (error) {
    throw asStoreError(error, file)
  }
}

/** Undefined when the file is damaged. It is looked at by one who cannot write: closing the only writer would put the log into it. */
function open(file: string): Connection | undefined {
  if (!existsSync(file)) return create(file)
  let looker: Connection | undefined
  let db: Connection | undefined
  try {
    looker = reader(file)
    if (looker && !isSound(looker)) return undefined
    db = new Database(file)
    prepare(db)
    if (!looker && !isSound(db)) throw Object.assign(new Error('damaged'), { code: 'SQLITE_CORRUPT' })
    migrate(db)
    return db
  } catch (error) {
    db?.close()
    if (isDamage(error)) return undefined
    throw error
  } finally {
    looker?.close()
  }
}

/** Undefined where only a writer can open it, as after a kill in the middle of the very first change. */
function reader(file: string): Connection | undefined {
  let db: Connection | undefined
  try {
    db = new Database(file, { readonly: true })
    db.pragma('user_version')
    return db
  } catch (error) {
    db?.close()
    if (isDamage(error)) throw error
    return undefined
  }
}

const isDamage = (error: unknown): boolean => /^SQLITE_(NOTADB|CORRUPT)/.test(codeOf(error))

/** A database in a place where no damaged one can be. */
function create(file: string): Connection {
  const db = new Database(file)
  try {
    prepare(db)
    migrate(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function prepare(db: Connection): void {
  db.pragma('busy_timeout = 500') // the whole program stands still meanwhile; who can wait longer waits outside (session.ts)
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = NORMAL')
  db.pragma('foreign_keys = ON')
}

function isSound(db: Connection): boolean {
  if (db.pragma('quick_check(1)', { simple: true }) !== 'ok') return false
  const version = Number(db.pragma('user_version', { simple: true }))
  // tables without a version, or with one that cannot be: the first page is damaged
  if (version === 0) return db.prepare("select 1 from sqlite_master where name = 'entry'").get() === undefined
  return version > 0 && version <= migrations.length
}

const SAVED = 'The database was damaged, and what could be read of it was saved.'
const TORN =
  'The computer went off in the middle of a write: what was written in that moment may be missing. Everything before it is there, and nothing needs to be done.'

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

const newer = (file: string, version: number): StoreError =>
  new StoreError('newer', `${file} was written by a newer Tau (schema ${String(version)}). Install that version, or choose another --home.`)

export const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

/** No room, as the system or SQLite says it; the shared memory of a log is the first that does not fit. */
export const isFull = (code: string): boolean => /^(ENOSPC|EDQUOT|SQLITE_FULL|SQLITE_IOERR_SHM|SQLITE_IOERR_WRITE)/.test(code)

function asStoreError(error: unknown, file: string): Error {
  if (error instanceof StoreError) return error
  const code = codeOf(error)
  if (isFull(code))
    return new StoreError(
      'unwritable',
      `There is no room on the disk for ${file} (${code}). Free some space, or choose another --home.`,
      error
    )
  if (/^(SQLITE_(CANTOPEN|READONLY|IOERR)|EACCES|EROFS|EPERM|ENOTDIR|EEXIST)/.test(code)) {
    return new StoreError(
      'unwritable',
      `${file} cannot be opened for writing (${code}). Check the folder and the free space, or choose another --home.`,
      error
    )
  }
  return error instanceof Error ? error : new Error(String(error))
}
