// One process owns a data folder (design §3.2). The lock is an exclusive SQLite lock on a file of its own: the system lets go of it the moment
// the owner ends, however it ends, so there is no stale lock to judge. Who the owner is stands beside it, for the message only.
import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { codeOf, isFull, StoreError } from './database'

export interface Lock {
  /** Adds to what others may read of the owner. */
  readonly announce: (more: Pick<OwnerCard, 'socket' | 'token'>) => void
  release(): void
}
/** What stands in `owner.json`; only this account can read it. */
export interface OwnerCard {
  readonly pid: number
  readonly host: string
  readonly since: string
  /** Where the owner can be spoken to, and the token that it wants to hear. */
  readonly socket?: string
  readonly token?: string
}

/** Takes the folder for this process. Throws StoreError `in_use`, naming the owner, or `unwritable`. */
export function lockFolder(folder: string, host: string): Lock {
  const card = join(folder, CARD)
  const since = new Date().toISOString()
  const write = (more: Partial<OwnerCard>): void => {
    writeFileSync(card, JSON.stringify({ pid: process.pid, host, since, ...more }), { mode: 0o600 })
  }
  let held: Database.Database | undefined
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    held = hold(join(folder, 'owner.lock'))
    write({})
  } catch (error) {
    held?.close()
    const code = codeOf(error)
    if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED'))
      throw new StoreError('in_use', inUse(folder, readOwner(folder)), error)
    const what = isFull(code) ? 'Free some space, or choose another with --home DIR.' : 'Choose another with --home DIR.'
    throw new StoreError('unwritable', `The data folder ${folder} cannot be written (${code || String(error)}). ${what}`, error)
  }
  const db = held
  return {
    announce: write,
    release: () => {
      rmSync(card, { force: true })
      db.close()
    }
  }
}

/** One step takes it whole, so of two that start at the same moment exactly one has it: taken in two steps, each could keep the other from the second. */
function hold(file: string): Database.Database {
  const take = (): Database.Database => {
    const db = new Database(file, { timeout: 500 })
    try {
      db.exec('begin exclusive')
      return db
    } catch (error) {
      db.close()
      throw error
    }
  }
  try {
    return take()
  } catch (error) {
    if (!/^SQLITE_(NOTADB|CORRUPT)/.test(codeOf(error))) throw error
    // it holds nothing, and nobody: an owner would have kept us from reading it. It stays the same file, so that of two that find it so the
    // second meets the lock of the first
    truncateSync(file)
    return take()
  }
}

const CARD = 'owner.json'

/** Who owns a data folder, as far as it says so. */
export function readOwner(folder: string): OwnerCard | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, CARD), 'utf8')) as OwnerCard
  } catch {
    return undefined // the owner has not written it yet, or an older crash cut it: the message then names nobody
  }
}

const inUse = (folder: string, owner: OwnerCard | undefined): string =>
  `Tau is already running on ${folder}${owner ? ` (${owner.host}, process ${String(owner.pid)}, since ${owner.since})` : ''}. ` +
  'Use that one, end it first, or choose another data folder with --home DIR.'
