// Everything that is kept, behind plain functions. Only the session writes through it (design §3.2); `write` makes several of them one.
import { join } from 'node:path'
import { openDatabase } from './database'
import { entryTable, type EntryTable } from './entries'
import { eventTable, type EventTable } from './events'
import { createFlush } from './flush'
import { importedLineTable, type ImportedLineTable } from './imported-lines'
import { inboxTable, type InboxTable } from './inbox'
import { lockFolder, type OwnerCard } from './lock'
import { runTable, type RunTable } from './runs'
import { sessionTable, type SessionTable } from './sessions'
import { sideTable, type SideTable } from './sides'

export interface Store {
  readonly sessions: SessionTable
  readonly entries: EntryTable
  readonly events: EventTable
  readonly runs: RunTable
  readonly inbox: InboxTable
  readonly sides: SideTable
  readonly imported: ImportedLineTable
  /** Runs `work` as one transaction: all of it is stored, or nothing. Nested calls join the outer one. */
  write<T>(work: () => T): T
  /** Resolves when what was written so far would survive a power cut (accepted words, dispatches, approvals, ends of runs). */
  readonly flush: () => Promise<void>
  /** Lets other programs of this account know where this one can be spoken to. */
  readonly announce: (card: Pick<OwnerCard, 'socket' | 'token'>) => void
  close(): void
}

/** Takes the data folder and opens its database. Throws StoreError with what to do. `host` names us to whoever comes second. */
export function openStore(folder: string, host: string): Store {
  const lock = lockFolder(folder, host)
  try {
    const file = join(folder, 'tau.db')
    const db = openDatabase(file)
    const flush = createFlush(`${file}-wal`)
    // made once: better-sqlite3 builds several functions for every transaction that it wraps
    const transaction = db.transaction((work: () => unknown) => work())
    return {
      sessions: sessionTable(db),
      entries: entryTable(db),
      events: eventTable(db),
      runs: runTable(db),
      inbox: inboxTable(db),
      sides: sideTable(db),
      imported: importedLineTable(db),
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
