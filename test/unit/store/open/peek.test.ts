// A look into a data folder of another process, alive, dead or closed: it sees everything and leaves no trace.
import { copyFileSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import Database from 'better-sqlite3'
import { afterEach, describe, expect, it } from 'vitest'
import { peekStore } from '../../../../src/main/store/open/peek'
import { openStore } from '../../../../src/main/store/store'
import { freshFolder } from '../../../support/harness'
import { bytesOf, closeAll, databaseOf, entry, filled, leftBehind, opened, run } from './support'

afterEach(closeAll)

const copies = (): string[] => readdirSync(tmpdir()).filter((f) => f.startsWith('tau-read-'))

describe('a look into a data folder', () => {
  it('that is closed leaves it as it is', () => {
    const folder = filled(3)
    const [before, had] = [bytesOf(folder), copies()]
    const peek = peekStore(folder)
    expect(peek.entries.count('a')).toBe(3)
    expect(peek.runs.list('a')).toHaveLength(1)
    expect(peek.events.lastSeq('a')).toBe(4)
    expect(() => {
      peek.sessions.rename('a', 'x')
    }).toThrow(expect.objectContaining({ code: 'SQLITE_READONLY' }) as Error)
    peek.close()
    expect(bytesOf(folder)).toEqual(before)
    expect(copies()).toEqual(had)
  })

  it('whose owner is writing sees what is stored, as it comes, and does not disturb it', () => {
    const folder = filled(3)
    const store = opened(folder)
    store.entries.add(entry(3, 'a'))
    const peek = peekStore(folder)
    expect(peek.entries.count('a')).toBe(4)
    store.entries.add(entry(4, 'a'))
    expect(peek.entries.count('a')).toBe(5)
    peek.close()
    store.entries.add(entry(5, 'a'))
    expect(store.entries.count('a')).toBe(6)
  })

  it('whose owner was killed sees what it had stored, and the next start finds all of it', async () => {
    const folder = filled(3)
    const { signal, out } = await run(`
      const { openStore } = STORE(store.ts)
      const store = openStore(${JSON.stringify(folder)}, 'test')
      store.sessions.rename('a', 'renamed before the end'); die()`)
    expect(signal, out).toBe('SIGKILL')
    const before = bytesOf(folder)
    const peek = peekStore(folder)
    expect(peek.sessions.find('a')?.title).toBe('renamed before the end')
    peek.close()
    expect(bytesOf(folder)).toEqual(before)
    expect(opened(folder).sessions.find('a')?.title).toBe('renamed before the end')
  })

  it('that has a log and no index of it sees what is in the log', () => {
    const folder = filled(3)
    const store = openStore(folder, 'test')
    store.entries.add(entry(3, 'a'))
    const left = leftBehind(folder)
    store.close()
    const before = bytesOf(left)
    const peek = peekStore(left)
    expect(peek.entries.count('a')).toBe(4)
    peek.close()
    expect(bytesOf(left)).toEqual(before)
  })

  it.each([
    ['there is none', () => undefined, 'unreadable', 'There is no database'],
    [
      'it is older',
      (file: string) => {
        versioned(file, 1)
      },
      'unreadable',
      'Start this Tau once'
    ],
    [
      'it is newer',
      (file: string) => {
        versioned(file, 99)
      },
      'newer',
      'Start the newer Tau'
    ],
    [
      'it is none',
      (file: string) => {
        writeFileSync(file, 'x'.repeat(9_000))
      },
      'unreadable',
      'may be damaged'
    ]
  ])('is refused in words where %s', (_what, make, code, words) => {
    const folder = freshFolder()
    make(databaseOf(folder))
    const before = bytesOf(folder)
    expect(() => peekStore(folder)).toThrow(
      expect.objectContaining({ name: 'StoreError', code, message: expect.stringContaining(words) as string }) as Error
    )
    expect(bytesOf(folder)).toEqual(before)
  })
})

function versioned(file: string, version: number): void {
  copyFileSync(databaseOf(filled(1)), file)
  const db = new Database(file)
  db.pragma(`user_version = ${String(version)}`)
  db.close()
}
