// The end of a write-ahead log: what a power cut breaks is told of, what is normal is not.
import { copyFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, describe, expect, it } from 'vitest'
import { hasTornTail, storedVersion } from '../../../../src/main/store/open/wal'
import { openStore } from '../../../../src/main/store/store'
import { freshFolder } from '../../../support/harness'
import { closeAll, databaseOf, entry, filled, leftBehind, opened } from './support'

afterEach(closeAll)

/** A folder as a power cut leaves it in the middle of a conversation: entries 2 to 7 of `a` are in the log. */
function cut(change: (log: Buffer) => Buffer): string {
  const folder = filled(2)
  const store = openStore(folder, 'test')
  for (let n = 2; n < 8; n++)
    store.write(() => {
      store.entries.add(entry(n, 'a', 'w'.repeat(5_000)))
    })
  const left = leftBehind(folder)
  store.close()
  const log = `${databaseOf(left)}-wal`
  writeFileSync(log, change(readFileSync(log)))
  return left
}
/** A database of its own with a log that is not closed yet. */
function logged(work: (db: Database.Database) => void): boolean {
  const db = new Database(join(freshFolder(), 'x.db'))
  try {
    db.pragma('journal_mode = WAL')
    db.exec('create table t (x)')
    work(db)
    return hasTornTail(`${db.name}-wal`)
  } finally {
    db.close()
  }
}
const FRAME = 24 + 4096

describe('a write-ahead log', () => {
  it.each<[string, (log: Buffer) => Buffer, number]>([
    ['whose last 4096 bytes are zero', (log) => log.fill(0, log.length - 4096), 7],
    ['whose last frame is zero', (log) => log.fill(0, log.length - FRAME), 7],
    ['whose last bytes are others', (log) => log.fill(0x5a, log.length - 4096), 7],
    ['with a hole in the middle', (log) => log.fill(0, log.length - 3 * FRAME, log.length - 2 * FRAME), 7],
    ['whose header is zero', (log) => log.fill(0, 0, 32), 2]
  ])('%s is told of, and everything before that is there', (_what, change, entries) => {
    const folder = cut(change)
    const store = opened(folder)
    expect(store.notices).toEqual([{ code: 'torn_tail', message: expect.stringContaining('nothing needs to be done') as string }])
    expect(store.entries.count('a')).toBe(entries)
    expect(store.sessions.find('a')?.head).toBe(`a-${String(entries - 1)}`)
    closeAll()
    expect(opened(folder).notices).toEqual([])
  })

  it.each<[string, number]>([
    ['page', 100],
    ['frame header', FRAME - 10]
  ])('that ends in the middle of a %s is what a kill leaves: nothing of it was promised, and nothing is told', (_what, bytes) => {
    const folder = cut((log) => log.subarray(0, log.length - bytes))
    const store = opened(folder)
    expect(store.notices).toEqual([])
    expect(store.entries.count('a')).toBe(7)
  })

  it('that is whole is not told of, nor one that is empty or missing', () => {
    const folder = cut((log) => log)
    expect(opened(folder).notices).toEqual([])
    expect(hasTornTail(join(folder, 'none'))).toBe(false)
    const empty = cut((log) => log.subarray(0, 0))
    truncateSync(`${databaseOf(empty)}-wal`, 0)
    expect(opened(empty).notices).toEqual([])
  })

  it('with the remains of an older generation is not told of', () => {
    expect(
      logged((db) => {
        for (let i = 0; i < 50; i++) db.exec('insert into t values (randomblob(3000))')
        db.pragma('wal_checkpoint(RESTART)')
        db.exec('insert into t values (1)')
      })
    ).toBe(false)
  })

  it('with the remains of a transaction that was taken back is not told of', () => {
    expect(
      logged((db) => {
        db.pragma('cache_size = 5')
        db.exec('begin')
        for (let i = 0; i < 300; i++) db.exec('insert into t values (randomblob(3000))')
        db.exec('rollback')
        db.exec('insert into t values (1)')
      })
    ).toBe(false)
  })

  it('tells the version that its newest commit holds', () => {
    const file = join(freshFolder(), 'x.db')
    expect(storedVersion(file)).toBeUndefined()
    const db = new Database(file)
    db.pragma('user_version = 3')
    expect(storedVersion(file)).toBe(3)
    db.pragma('journal_mode = WAL')
    db.pragma('user_version = 7')
    expect(storedVersion(file)).toBe(7)
    db.exec('begin; pragma user_version = 8; rollback')
    expect(storedVersion(file)).toBe(7)
    db.exec('create table t (x)')
    db.exec('begin; pragma user_version = 8; insert into t values (zeroblob(9000)); commit')
    expect(storedVersion(file)).toBe(8)
    const log = readFileSync(`${file}-wal`)
    // without its last frame a transaction is none
    const short = join(freshFolder(), 'x.db')
    copyFileSync(file, short)
    writeFileSync(`${short}-wal`, log.subarray(0, log.length - FRAME))
    expect(storedVersion(short)).toBe(7)
    db.close()
    expect(storedVersion(file)).toBe(8)
    writeFileSync(file, 'no database')
    expect(storedVersion(file)).toBeUndefined()
  })
})
