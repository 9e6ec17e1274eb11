// A damaged database is exchanged for one made of what can be read of it. The exchange may be cut at any moment: until the new file is complete
// the old one stays where it is, and an exchange that was begun is finished at the next start.
import { copyFileSync, existsSync, renameSync, rmSync, statSync } from 'node:fs'
import Database from 'better-sqlite3'
import type { Connection } from './connection'
import { salvage, type Salvage } from './salvage'

/** Endings that belong to a database. */
const FILES = ['', '-journal', '-wal', '-shm']
const READY = '.saved'
const PART = '.saved-part'
const COPY = '.saved-from'

/** Makes the new database with `create` and puts it in the place of `file`. `kept`: where the damaged one is now. */
export function exchange(file: string, create: (file: string) => Connection): Salvage & { kept: string } {
  const copy = file + COPY // SQLite may change what it opens; what is kept stays as it was found
  const part = file + PART
  const clean = (): void => {
    for (const end of FILES) for (const base of [copy, part]) rmSync(base + end, { force: true })
  }
  clean()
  try {
    copyFileSync(file, copy)
    if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`)
    const db = create(part)
    let saved: Salvage
    try {
      saved = readOld(copy, (old) => salvage(old, db, file)) ?? { sessions: 0, saved: 0, lost: 0 }
    } finally {
      db.close() // its log goes into it, so that it is one file
    }
    renameSync(part, file + READY)
    return { ...saved, kept: swap(file) }
  } finally {
    clean()
  }
}

/** Finishes an exchange that was cut; where the damaged file is kept, or undefined when none was. */
export const finishExchange = (file: string): string | undefined => (existsSync(file + READY) ? swap(file) : undefined)

function swap(file: string): string {
  const kept = `${file}.damaged-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
  // an empty log comes from looking at the file
  if (existsSync(`${file}-wal`) && statSync(`${file}-wal`).size === 0)
    for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true })
  // the log first: beside the new database it would be taken for its own
  for (const end of FILES.toReversed()) if (existsSync(file + end)) renameSync(file + end, kept + end)
  renameSync(file + READY, file)
  return kept
}

/** Undefined when it is not even a database any more. */
function readOld(copy: string, read: (old: Connection) => Salvage): Salvage | undefined {
  let old: Connection | undefined
  try {
    old = new Database(copy)
    // without this a file that is shorter than it says is not read at all
    old.unsafeMode(true)
    old.pragma('writable_schema = ON')
    old.prepare('select count(*) from sqlite_master').get()
  } catch {
    old?.close()
    return undefined
  }
  try {
    return read(old)
  } finally {
    old.close()
  }
}
