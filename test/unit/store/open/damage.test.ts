// Damaged databases: kept aside, and what can be read of them saved, whatever is broken and whenever the process is killed.
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { recoverRuns } from '../../../../src/main/session/run/recovery'
import { freshFolder } from '../../../support/harness'
import { bytesOf, closeAll, databaseOf, entry, expectSound, filled, first, hashOf, keptIn, leftBehind, opened, run } from './support'

afterEach(closeAll)

const PAGE = 4096
/** Overwrites pages from `at` (a share of the file). */
function breakPages(folder: string, at: number, pages: number, byte = 0xa5): void {
  const bytes = readFileSync(databaseOf(folder))
  const from = Math.max(1, Math.floor((bytes.length * at) / PAGE)) * PAGE
  bytes.fill(byte, from, Math.min(bytes.length, from + pages * PAGE))
  writeFileSync(databaseOf(folder), bytes)
}
/** Root pages of the tables and indexes of a closed database. */
function rootOf(folder: string, name: string): number {
  const db = new Database(databaseOf(folder), { readonly: true })
  const page = db.prepare<[string], number>('select rootpage from sqlite_master where name = ?').pluck().get(name)
  db.close()
  return page ?? 0
}
function change(folder: string, sql: string): void {
  const db = new Database(databaseOf(folder))
  db.pragma('foreign_keys = OFF')
  for (const name of ['entry_fixed', 'entry_kept', 'event_fixed', 'event_kept']) db.exec(`drop trigger ${name}`)
  db.exec(sql)
  db.close()
}
/** Breaks one page that holds little, so that the database is damaged and nearly all can be read. */
function breakAnIndex(folder: string): void {
  const page = rootOf(folder, 'approval_open')
  const bytes = readFileSync(databaseOf(folder))
  bytes.fill(0xa5, (page - 1) * PAGE, page * PAGE)
  writeFileSync(databaseOf(folder), bytes)
}

describe('a damaged database', () => {
  it.each([
    ['no database at all', 'this is no database, but it is long enough to be read as one'.repeat(200)],
    ['zeros', '\0'.repeat(3 * PAGE)],
    ['a database cut in its first page', 'SQLite format 3\0short']
  ])('that is %s is kept aside, and Tau begins empty and says so', (_what, text) => {
    const folder = freshFolder()
    writeFileSync(databaseOf(folder), text)
    const store = opened(folder)
    const [kept = ''] = keptIn(folder)
    expect(readFileSync(join(folder, kept), 'utf8')).toBe(text)
    expect(store.notices).toMatchObject([
      { code: 'salvaged', path: join(folder, kept), saved: 0, message: expect.stringContaining(kept) as string }
    ])
    expect(store.sessions.list('open')).toEqual([])
    expectSound(folder)
  })

  it('that holds nothing yet is an empty one, not a damaged one', () => {
    const folder = freshFolder()
    writeFileSync(databaseOf(folder), '')
    expect(opened(folder).notices).toEqual([])
    expect(keptIn(folder)).toEqual([])
  })

  it.each([0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95])('with broken pages in it (at %d of it) gives what can be read', (share) => {
    const folder = filled(400)
    breakPages(folder, share, 3)
    const broken = hashOf(databaseOf(folder))
    const store = opened(folder)
    const [kept = ''] = keptIn(folder)
    expect(hashOf(join(folder, kept))).toBe(broken)
    const saved = ['a', 'b'].reduce((sum, id) => sum + store.entries.count(id), 0)
    expect(store.notices).toMatchObject([{ code: 'salvaged', saved }])
    expect(saved).toBeGreaterThan(700)
    // every walk over what was saved works
    for (const s of store.sessions.list('open')) {
      expect([...store.entries.up(s.id, store.sessions.find(s.id)?.head ?? null)].length).toBe(store.entries.count(s.id))
      for (const event of store.events.after(s.id, 0, 10_000)) if (event.type === 'message_end') expect(event.entry.sessionId).toBe(s.id)
    }
    recoverRuns(store, () => 1)
    closeAll()
    expectSound(folder)
  })

  it('that was cut gives what was before the cut', () => {
    const folder = filled(400)
    truncateSync(databaseOf(folder), Math.floor(readFileSync(databaseOf(folder)).length / 2 / PAGE) * PAGE)
    const store = opened(folder)
    expect(store.notices.map((n) => n.code)).toEqual(['salvaged'])
    expect(store.entries.count('a') + store.entries.count('b')).toBeGreaterThan(100)
    expectSound(folder)
  })

  it('of any kind of damage opens, and is sound then', { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            at: fc.double({ min: 0, max: 0.999, noNaN: true }),
            pages: fc.integer({ min: 1, max: 6 }),
            byte: fc.constantFrom(0, 0xa5, 0xff, 1)
          }),
          {
            minLength: 1,
            maxLength: 4
          }
        ),
        (holes) => {
          const folder = leftBehind(whole)
          for (const { at, pages, byte } of holes) breakPages(folder, at, pages, byte)
          const store = opened(folder)
          for (const s of store.sessions.list('open')) for (const e of store.entries.all(s.id)) expect(e.type).toBe('message')
          closeAll()
          expectSound(folder)
        }
      ),
      { numRuns: 12 }
    )
  })
  const whole = filled(150)

  it('keeps every table of what is whole: names, sides, lines, queue, runs, calls, questions, grants', () => {
    const folder = filled(6)
    breakAnIndex(folder)
    const store = opened(folder)
    expect(store.notices).toMatchObject([{ code: 'salvaged', saved: 12, lost: 0 }])
    for (const id of ['a', 'b']) {
      expect(store.sessions.find(id)).toMatchObject({ title: `title of ${id}`, head: `${id}-5` })
      expect(store.events.lastSeq(id)).toBe(7)
      expect(store.sessions.labels(id)).toEqual({ [`${id}-3`]: 'here' })
      expect(store.sides.all(id)).toMatchObject([{ name: 'aside', home: `${id}-3` }])
      expect(store.imported.all(id)).toMatchObject([{ line: '{}' }, { entryId: `${id}-3` }])
      expect(store.inbox.waiting(id)).toMatchObject([{ text: 'wait' }])
      expect(store.runs.latest(id)).toMatchObject({ base: `${id}-3`, firstSeq: 6 })
      expect(store.runs.allCalls(`run-${id}`)).toMatchObject([{ callId: 'c' }])
      expect(store.runs.openApprovals(id)).toHaveLength(1)
      expect(store.grants.holding(id, '/w').map((g) => g.rule)).toEqual([{ verdict: 'allow', tool: 'write_file' }])
    }
    expectSound(folder)
  })

  it('puts an entry whose parent is lost under the newest one before it, drops what told of the lost, and numbers the rest anew', () => {
    const folder = filled(6)
    change(
      folder,
      "delete from entry where id in ('a-2', 'a-3'); update entry set payload = '{\"role\"' where id = 'b-5'; update entry set parent_id = 'b-4' where id = 'b-1'"
    )
    breakAnIndex(folder)
    const store = opened(folder)
    expect(store.notices).toMatchObject([
      { saved: 9, lost: 3, message: expect.stringContaining('At least 3 entries are missing') as string }
    ])
    expect(store.entries.find('a', 'a-4')?.parentId).toBe('a-1')
    expect(store.entries.find('b', 'b-1')?.parentId).toBe('b-0') // no entry follows one that comes later
    expect(store.sessions.find('b')?.head).toBe('b-4')
    expect(store.events.after('a', 0, 9).map((e) => [e.seq, e.type])).toEqual(
      [1, 2, 3, 4, 5].map((n) => [n, n === 1 ? 'session' : 'message_end'])
    )
    expect(store.runs.latest('a')).toMatchObject({ base: null, firstSeq: 4 })
    expect(store.runs.allCalls('run-a')[0]).not.toHaveProperty('result')
    expect(store.sessions.labels('a')).toEqual({})
    expect(store.imported.all('a')).toMatchObject([{ line: '{}' }, { line: '{"x":1}' }])
    expectSound(folder)
  })

  it('makes a session whose row is lost anew, as its events tell of it', () => {
    const folder = filled(3)
    change(folder, "delete from session; delete from event where session_id = 'b' and seq = 1")
    breakAnIndex(folder)
    const store = opened(folder)
    expect(store.sessions.find('a')).toMatchObject({ title: 'title of a', workspace: '/w', model: 'm', head: 'a-2' })
    expect(store.sessions.find('b')).toMatchObject({ title: '', workspace: join(folder, 'unknown-folder'), head: 'b-2' })
    expectSound(folder)
  })

  it('whose version is lost or cannot be is damaged, not new', () => {
    for (const version of [0, 0x7fffffff, -1]) {
      const folder = filled(3)
      const db = new Database(databaseOf(folder))
      db.pragma(`user_version = ${String(version)}`)
      db.close()
      expect(opened(folder).entries.count('a'), String(version)).toBe(3)
      expect(keptIn(folder)).toHaveLength(1)
    }
  })

  it('of the first schema gives what it had', () => {
    const folder = first()
    breakAnIndex(folder)
    const store = opened(folder)
    expect(store.sessions.find('s')).toMatchObject({ title: 'old', head: 'e' })
    expect(store.events.after('s', 0, 9)).toMatchObject([{ type: 'message_end', entry: { id: 'e' } }])
    expect(store.runs.allCalls('r')).toMatchObject([{ result: { text: 't' } }])
    expect(store.inbox.waiting('s')).toMatchObject([{ text: 'left', position: 5 }])
    expect(store.grants.holding('s', '/w').map((g) => g.rule)).toEqual([{ verdict: 'allow', tool: 'write_file' }])
    expectSound(folder)
  })

  it('is exchanged so that a kill at any moment of it loses nothing', async () => {
    for (const [what, times] of [
      ['copyFileSync', 1],
      ['renameSync', 3]
    ] as const)
      for (let n = 1; n <= times; n++) {
        const folder = filled(6)
        breakAnIndex(folder)
        const before = hashOf(databaseOf(folder))
        const { signal, out } = await run(`
          const { openStore } = STORE(store.ts)
          const real = fs.${what}; let n = 0
          fs.${what} = (...args) => { real(...args); if (++n === ${String(n)}) die() }
          syncBuiltinESMExports()
          openStore(${JSON.stringify(folder)}, 'test')`)
        expect(signal, `${what} ${String(n)}: ${out}`).toBe('SIGKILL')
        const store = opened(folder)
        expect(store.entries.count('a') + store.entries.count('b'), `${what} ${String(n)}`).toBe(12)
        // the last rename ends it: who was killed after it has nothing left to do
        expect(store.notices.map((notice) => notice.code)).toEqual(n === 3 ? [] : ['salvaged'])
        expect(keptIn(folder).map((f) => hashOf(join(folder, f)))).toContain(before)
        closeAll()
        expectSound(folder)
        expect(opened(folder).notices).toEqual([])
        closeAll()
      }
  })

  it('keeps its log with it, and takes what is there into account', () => {
    const folder = filled(3)
    const store = opened(folder)
    store.entries.add(entry(3, 'a'))
    const left = leftBehind(folder)
    closeAll()
    breakAnIndex(left)
    const found = bytesOf(left)
    const again = opened(left)
    expect(again.entries.count('a')).toBe(4)
    expect(
      keptIn(left)
        .map((f) => f.replace(/^.*Z/, ''))
        .filter((end) => end !== '-shm')
        .sort()
    ).toEqual(['', '-wal'])
    for (const kept of keptIn(left))
      if (!kept.endsWith('-shm')) expect(hashOf(join(left, kept))).toBe(found[kept.endsWith('-wal') ? 'tau.db-wal' : 'tau.db'])
  })
})
