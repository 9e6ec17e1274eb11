// A look into a data folder that is somebody else's, or nobody's any more: without the lock, without bringing the schema up to date, without writing.
// This is how the state of a stopped process is read from outside (spec L2).
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { Store } from '../store'
import { entryTable } from '../tables/entries'
import { eventTable } from '../tables/events'
import { runTable } from '../tables/runs'
import { sessionTable } from '../tables/sessions'
import type { Connection } from './connection'
import { StoreError } from './database'
import { copyDatabase } from './read-only'
import { migrations } from './schema'
import { storedVersion } from './wal'

export type Peek = Pick<Store, 'sessions' | 'entries' | 'events' | 'runs' | 'close'>

/** Throws StoreError when there is nothing to read, or it was written by another version. */
export function peekStore(folder: string): Peek {
  const file = join(folder, 'tau.db')
  if (!existsSync(file))
    throw new StoreError('unreadable', `There is no database in ${folder}. Start Tau once, or name another folder with --home.`)
  const version = storedVersion(file)
  if (version !== undefined && version !== migrations.length)
    throw new StoreError(
      version > migrations.length ? 'newer' : 'unreadable',
      `${file} has schema ${String(version)}, this Tau reads ${String(migrations.length)}. Start ${version > migrations.length ? 'the newer Tau' : 'this Tau once'}.`
    )
  try {
    const { db, close } = look(folder, file)
    return { sessions: sessionTable(db), entries: entryTable(db), events: eventTable(db), runs: runTable(db), close }
  } catch (error) {
    throw new StoreError('unreadable', `${file} cannot be read, it may be damaged. Start Tau: it saves what can be read.`, error)
  }
}

/**
 * A database with a log beside it is read where it is, as its owner may be writing: SQLite keeps the two apart and a reader writes to neither.
 * Without one nobody writes, and SQLite would leave a log behind: then a private copy is read, as on a disk that cannot be written.
 */
function look(folder: string, file: string): { db: Connection; close: () => void } {
  if (existsSync(`${file}-wal`) && existsSync(`${file}-shm`)) {
    const db = opened(file)
    if (db) return { db, close: () => void db.close() }
  }
  const copy = copyDatabase(folder)
  const db = opened(copy.file)
  if (!db) {
    copy.remove()
    throw new Error('not a database')
  }
  return {
    db,
    close: () => {
      db.close()
      copy.remove()
    }
  }
}

/** Undefined when it cannot be read. */
function opened(file: string): Connection | undefined {
  let db: Connection | undefined
  try {
    db = new Database(file, { readonly: true })
    db.prepare('select count(*) from session').get()
    return db
  } catch {
    db?.close()
    return undefined
  }
}
