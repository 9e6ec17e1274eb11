// A look into a data folder that is somebody else's, or nobody's any more: without the lock, without bringing the schema up to date, without writing.
// This is how the state of a stopped process is read from outside (spec L2).
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { StoreError } from './database'
import { entryTable } from '../tables/entries'
import { eventTable } from '../tables/events'
import { runTable } from '../tables/runs'
import { migrations } from './schema'
import { sessionTable } from '../tables/sessions'
import type { Store } from '../store'

export type Peek = Pick<Store, 'sessions' | 'entries' | 'events' | 'runs' | 'close'>

/** Throws StoreError when there is nothing to read, or it was written by another version. */
export function peekStore(folder: string): Peek {
  const file = join(folder, 'tau.db')
  if (!existsSync(file))
    throw new StoreError('unwritable', `There is no database in ${folder}. Start Tau once, or name another folder with --home.`)
  let db: Database.Database
  try {
    db = new Database(file, { readonly: true })
  } catch (error) {
    throw new StoreError('unwritable', `${file} cannot be read.`, error)
  }
  const version = Number(db.pragma('user_version', { simple: true }))
  if (version !== migrations.length) {
    db.close()
    throw new StoreError(
      'newer',
      `${file} has schema ${String(version)}, this Tau reads ${String(migrations.length)}. Start that Tau, or this one, once.`
    )
  }
  return {
    sessions: sessionTable(db),
    entries: entryTable(db),
    events: eventTable(db),
    runs: runTable(db),
    close: () => {
      db.close()
    }
  }
}
