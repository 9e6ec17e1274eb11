// Everything that is kept, behind plain functions. Only the session writes through it (design §3.2); `write` makes several of them one.
import { join } from 'node:path'
import type { Connection } from './open/connection'
import { codeOf, isFull, openDatabase, StoreError, type StoreNotice } from './open/database'
import { copyDatabase, hasDatabase, isReadOnly } from './open/read-only'
import { entryTable, type EntryTable } from './tables/entries'
import { eventTable, type EventTable } from './tables/events'
import { createFlush } from './open/flush'
import { grantTable, type GrantTable } from './tables/grants'
import { importedLineTable, type ImportedLineTable } from './tables/imported-lines'
import { inboxTable, type InboxTable } from './tables/inbox'
import { keptTable, type KeptTable } from './tables/kept'
import { lockFolder, type OwnerCard } from './open/lock'
import { runTable, type RunTable } from './tables/runs'
import { sessionTable, type SessionTable } from './tables/sessions'
import { sideTable, type SideTable } from './tables/sides'

export interface Store {
  readonly sessions: SessionTable
  readonly entries: EntryTable
  readonly events: EventTable
  readonly runs: RunTable
  readonly inbox: InboxTable
  readonly grants: GrantTable
  readonly kept: KeptTable
  readonly sides: SideTable
  readonly imported: ImportedLineTable
  /** `read-only`: every write throws, with the code SQLITE_READONLY. */
  readonly mode: 'read-write' | 'read-only'
  /** What the person should know of how it was opened. */
  readonly notices: readonly StoreNotice[]
  /** Runs `work` as one transaction: all of it is stored, or nothing. Nested calls join the outer one. */
  write<T>(work: () => T): T
  /** Resolves when what was written so far would survive a power cut (accepted words, dispatches, approvals, ends of runs). */
  readonly flush: () => Promise<void>
  /** Lets other programs of this account know where this one can be spoken to. */
  readonly announce: (card: Pick<OwnerCard, 'socket' | 'token'>) => void
  close(): void
}

/**
 * Takes the data folder and opens its database; one that cannot be written is opened to read. Throws StoreError with what to do. `host` names
 * us to whoever comes second.
 */
export function openStore(folder: string, host: string): Store {
  if (isReadOnly(folder)) return openToRead(folder, false)
  try {
    return openToWrite(folder, host)
  } catch (error) {
    // what is there can be read all the same
    if (!(error instanceof StoreError) || error.code !== 'unwritable' || !hasDatabase(folder)) throw error
    try {
      return openToRead(folder, isFull(codeOf(error.cause)))
    } catch {
      throw error
    }
  }
}

function openToWrite(folder: string, host: string): Store {
  const lock = lockFolder(folder, host)
  try {
    const file = join(folder, 'tau.db')
    const { db, notices } = openDatabase(file)
    const flush = createFlush(`${file}-wal`)
    // made once: better-sqlite3 builds several functions for every transaction that it wraps
    const transaction = db.transaction((work: () => unknown) => work())
    return {
      ...tables(db),
      mode: 'read-write',
      notices,
      write: <T>(work: () => T) => (db.inTransaction ? work() : (transaction.immediate(work) as T)),
      flush,
      announce: lock.announce,
      close: () => {
        flush.close()
        db.close()
        lock.release()
      }
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

function openToRead(folder: string, isDiskFull: boolean): Store {
  const copy = copyDatabase(folder)
  try {
    const { db, notices } = openDatabase(copy.file)
    db.pragma('query_only = ON') // whoever writes past `write` is refused as well, with the same code
    const message = isDiskFull
      ? `The disk of ${folder} is full: sessions can be read, and nothing can be saved. Free some space and start Tau again.`
      : `${folder} is read-only: sessions can be read, and nothing can be saved. Choose another folder with --home to work.`
    return {
      ...tables(db),
      mode: 'read-only',
      notices: [...notices.map((notice) => ofTheCopy(notice, folder)), { code: 'read_only', message, path: folder }],
      write: () => {
        throw Object.assign(new Error(message), { code: 'SQLITE_READONLY' })
      },
      flush: () => Promise.resolve(),
      announce: () => undefined,
      close: () => {
        db.close()
        copy.remove()
      }
    }
  } catch (error) {
    copy.remove()
    throw error
  }
}

/** The damaged file of a copy is gone with it; the real one stays where it is. */
const ofTheCopy = (notice: StoreNotice, folder: string): StoreNotice =>
  notice.code === 'salvaged'
    ? {
        ...notice,
        path: join(folder, 'tau.db'),
        message: `The database in ${folder} is damaged: what can be read of it is shown, and it stays as it is.`
      }
    : notice

const tables = (
  db: Connection
): Pick<Store, 'sessions' | 'entries' | 'events' | 'runs' | 'inbox' | 'grants' | 'kept' | 'sides' | 'imported'> => ({
  sessions: sessionTable(db),
  entries: entryTable(db),
  events: eventTable(db),
  runs: runTable(db),
  inbox: inboxTable(db),
  grants: grantTable(db),
  kept: keptTable(db),
  sides: sideTable(db),
  imported: importedLineTable(db)
})
