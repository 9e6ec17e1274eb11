// Everything that is kept, behind plain functions. Only the session writes through it (design §3.2); `write` makes several of them one.
import { join } from 'node:path'
import { openDatabase } from './database'
import { eventTable, type EventTable } from './events'
import { inboxTable, type InboxTable } from './inbox'
import { lockFolder } from './lock'
import { runTable, type RunTable } from './runs'
import { sessionTable, type SessionTable } from './sessions'

export interface Store {
  readonly sessions: SessionTable
  readonly events: EventTable
  readonly runs: RunTable
  readonly inbox: InboxTable
  /** Runs `work` as one transaction: all of it is stored, or nothing. Nested calls join the outer one. */
  write<T>(work: () => T): T
  /** The same, and waits until the disk has it: for what must survive a power cut (accepted words, dispatch, approvals, ends). */
  writeDurably<T>(work: () => T): T
  close(): void
}

/** Takes the data folder and opens its database. Throws StoreError with what to do. `host` names us to whoever comes second. */
export function openStore(folder: string, host: string): Store {
  const lock = lockFolder(folder, host)
  try {
    const db = openDatabase(join(folder, 'tau.db'))
    const flushed = db.prepare('pragma synchronous = FULL')
    const unflushed = db.prepare('pragma synchronous = NORMAL')
    const write = <T>(work: () => T): T => (db.inTransaction ? work() : db.transaction(work).immediate())
    return {
      sessions: sessionTable(db),
      events: eventTable(db),
      runs: runTable(db),
      inbox: inboxTable(db),
      write,
      writeDurably: (work) => {
        if (db.inTransaction) return work()
        flushed.run()
        try {
          return write(work)
        } finally {
          unflushed.run()
        }
      },
      close: () => {
        db.close()
        lock.release()
      }
    }
  } catch (error) {
    lock.release()
    throw error
  }
}
