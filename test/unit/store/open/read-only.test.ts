// Disks that cannot be written: read-only, and full. What is there can be read, and it is said why nothing can be saved.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { openStore } from '../../../../src/main/store/store'
import { freshFolder } from '../../../support/harness'
import { bytesOf, closeAll, databaseOf, entry, expectSound, filled, leftBehind, mount, opened, session, unmount } from './support'

const mounts: string[] = []
afterEach(() => {
  closeAll()
  for (const folder of mounts.splice(0)) unmount(folder)
})
/** Makes a folder read-only; false where this process may not. */
function lockedUp(folder: string): boolean {
  if (!mount('--bind', folder, folder)) return false
  mounts.push(folder)
  return mount('-o', 'remount,ro,bind', folder)
}
/** A disk of its own of that size; undefined where this process may not mount. */
function disk(size: string): string | undefined {
  const folder = freshFolder()
  if (!mount('-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder)) return undefined
  mounts.push(folder)
  return folder
}
/** Fills a disk to its last byte. */
function fill(folder: string): void {
  for (const size of [65_536, 4_096, 1])
    for (let n = 0; ; n++)
      try {
        writeFileSync(join(folder, `fill-${String(size)}-${String(n)}`), Buffer.alloc(size))
      } catch {
        break
      }
}
const copies = (): string[] => readdirSync(tmpdir()).filter((f) => f.startsWith('tau-read-'))

describe('a read-only disk', () => {
  it('is read from a private copy, and every write is refused in words, also one that goes past the transaction', ({ skip }) => {
    const folder = filled(3)
    const before = bytesOf(folder)
    if (!lockedUp(folder)) skip('this process may not mount')
    const had = copies()
    const store = openStore(folder, 'test')
    expect(store.mode).toBe('read-only')
    expect(store.notices).toMatchObject([
      { code: 'read_only', path: folder, message: expect.stringContaining('nothing can be saved') as string }
    ])
    expect([...store.entries.all('a')]).toHaveLength(3)
    expect(store.entries.search('w', 9)).toHaveLength(6)
    const refused = expect.objectContaining({ code: 'SQLITE_READONLY' }) as Error
    expect(() => store.write(() => 1)).toThrow(refused)
    expect(() => store.write(() => 1)).toThrow('nothing can be saved')
    for (const write of [
      () => {
        store.entries.add(entry(3, 'a'))
      },
      () => {
        store.sessions.insert(session('c'))
      },
      () => store.events.append('a', 5, 1, { type: 'head', head: null })
    ])
      expect(write).toThrow(refused)
    expect(copies().length).toBeGreaterThan(had.length)
    store.close()
    expect(copies()).toEqual(had)
    expect(bytesOf(folder)).toEqual(before)
  })

  it('with a log that a kill left is read with what is in the log', ({ skip }) => {
    const folder = filled(2)
    const store = openStore(folder, 'test')
    store.entries.add(entry(2, 'a'))
    const left = leftBehind(folder)
    store.close()
    if (!lockedUp(left)) skip('this process may not mount')
    expect(opened(left).entries.count('a')).toBe(3)
  })

  it('with a damaged database shows what can be read, and leaves it where it is', ({ skip }) => {
    const folder = filled(100)
    const bytes = readFileSync(databaseOf(folder))
    bytes.fill(0xa5, bytes.length >> 1, (bytes.length >> 1) + 4096)
    writeFileSync(databaseOf(folder), bytes)
    const before = bytesOf(folder)
    if (!lockedUp(folder)) skip('this process may not mount')
    const store = opened(folder)
    expect(store.notices).toMatchObject([{ code: 'salvaged', path: databaseOf(folder) }, { code: 'read_only' }])
    expect(store.notices[0]?.message).toBe(`The database in ${folder} is damaged: what can be read of it is shown, and it stays as it is.`)
    expect(store.entries.count('a') + store.entries.count('b')).toBeGreaterThan(150)
    expect(bytesOf(folder)).toEqual(before)
  })

  it('without a database cannot be used, and it is said what to do', ({ skip }) => {
    const folder = freshFolder()
    if (!lockedUp(folder)) skip('this process may not mount')
    expect(() => openStore(folder, 'test')).toThrow(/cannot be written.*Choose another with --home/)
  })
})

describe('a full disk', () => {
  it('is read, and it is said that space must be freed', ({ skip }) => {
    const folder = disk('2m')
    if (!folder) return skip('this process may not mount')
    const made = openStore(folder, 'test')
    made.sessions.insert(session('a'))
    made.entries.add(entry(0, 'a'))
    made.close()
    fill(folder)
    const store = openStore(folder, 'test')
    expect(store.mode).toBe('read-only')
    expect(store.notices).toMatchObject([{ code: 'read_only', message: expect.stringMatching(/is full.*Free some space/) as string }])
    expect(store.entries.count('a')).toBe(1)
    store.close()
    for (const f of readdirSync(folder)) if (f.startsWith('fill-')) rmSync(join(folder, f))
    expect(opened(folder).mode).toBe('read-write')
    closeAll()
    expectSound(folder)
  })

  it('without a database cannot be used, and it is said what to do', ({ skip }) => {
    const folder = disk('1m')
    if (!folder) return skip('this process may not mount')
    fill(folder)
    expect(() => openStore(folder, 'test')).toThrow(/Free some space/)
    expect(existsSync(databaseOf(folder))).toBe(false)
  })
})
