// The SQLite file of a data folder: opening, settings, schema. Everything above it works on prepared statements.
import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { migrations } from './schema'

export type Connection = Database.Database

/** Why a data folder cannot be used; `code` is one of `damaged`, `newer`, `unwritable`, `in_use`. The message says what to do. */
export class StoreError extends Error {
  readonly code: 'damaged' | 'newer' | 'unwritable' | 'in_use'
  constructor(code: StoreError['code'], message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'StoreError'
    this.code = code
  }
}

/** Opens the database in `file`, makes it when it is missing, and brings its schema up to date. Throws StoreError; touches nothing then. */
export function openDatabase(file: string): Connection {
  const isNew = !existsSync(file)
  let db: Connection | undefined
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    db = new Database(file)
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
    db.pragma('busy_timeout = 2000')
    if (!isNew && db.pragma('quick_check(1)', { simple: true }) !== 'ok') throw new StoreError('damaged', damaged(file))
    migrate(db, version)
    return db
  } catch (error) {
    db?.close()
    throw asStoreError(error, file)
  }
}

function migrate(db: Connection, from: number): void {
  for (const [index, sql] of migrations.entries()) {
    if (index < from) continue
    db.transaction(() => {
      db.exec(sql)
      db.pragma(`user_version = ${String(index + 1)}`)
    })()
  }
}

const damaged = (file: string): string => `${file} is damaged. Nothing was changed. Move it aside and start again, or restore a copy of it.`

function asStoreError(error: unknown, file: string): Error {
  if (error instanceof StoreError) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT')) return new StoreError('damaged', damaged(file), error)
  if (/^(SQLITE_(CANTOPEN|READONLY|FULL|IOERR)|EACCES|EROFS|ENOSPC|EPERM|ENOTDIR|EEXIST)/.test(code)) {
    return new StoreError(
      'unwritable',
      `${file} cannot be opened for writing (${code}). Check the folder and the free space, or choose another --home.`,
      error
    )
  }
  return error instanceof Error ? error : new Error(String(error))
}
