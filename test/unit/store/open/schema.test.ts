// The schema: brought up to date once, whoever comes when, and never touched when it is newer than we are.
import Database from 'better-sqlite3'
import { afterEach, describe, expect, it } from 'vitest'
import { migrations } from '../../../../src/main/store/open/schema'
import { openStore } from '../../../../src/main/store/store'
import { freshFolder } from '../../../support/harness'
import { bytesOf, closeAll, databaseOf, expectSound, filled, first, leftBehind, opened, run, session } from './support'

afterEach(closeAll)

describe('the schema', () => {
  it('of each older version is brought up to date with everything in it, and only once', () => {
    const folder = first()
    const seen: Record<string, string>[] = []
    for (const start of ['first', 'second', 'third']) {
      const store = openStore(folder, 'test')
      expect(store.sessions.find('s'), start).toMatchObject({ title: 'old', head: 'e', steerMode: 'one-at-a-time' })
      expect([...store.entries.all('s')]).toMatchObject([{ id: 'e', message: { parts: [{ text: 'hello' }] } }])
      expect(store.events.after('s', 0, 9)).toMatchObject([{ type: 'message_end', entry: { id: 'e' } }])
      expect(store.runs.latest('s')).toMatchObject({ run: { id: 'r', endedAt: 2 }, base: null })
      expect(store.runs.allCalls('r')).toMatchObject([{ result: { text: 't' } }])
      expect(store.runs.openApprovals('s')).toMatchObject([{ id: 'p' }])
      expect(store.inbox.waiting('s')).toMatchObject([{ id: 'i', kind: 'steer', text: 'left', position: 5, held: false }])
      expect(store.grants.holding('s', '/w').map((g) => g.rule)).toEqual([{ verdict: 'allow', tool: 'write_file' }])
      expect(store.notices).toEqual([])
      store.close()
      const { 'tau.db': bytes = '' } = bytesOf(folder)
      seen.push({ bytes })
    }
    expect(seen[2]).toEqual(seen[1])
    expect(seen[1]).toEqual(seen[0])
    expectSound(folder)
  })

  it.each(['closed', 'left by a kill'])('of a newer Tau that was %s is refused, and not a byte of it is touched', (how) => {
    const folder = filled(1)
    const db = new Database(databaseOf(folder))
    db.pragma('user_version = 99')
    const left = how === 'closed' ? folder : leftBehind(folder)
    db.close()
    const before = bytesOf(left)
    expect(() => openStore(left, 'test')).toThrow(/newer Tau \(schema 99\).*Install that version/)
    const { 'owner.lock': lock, ...after } = bytesOf(left)
    const { 'owner.lock': had, ...was } = before
    expect(after).toEqual(was)
  })

  it('whose newest step fails leaves the steps before it done, and the next start goes on', () => {
    const folder = first()
    const db = new Database(databaseOf(folder))
    db.exec('create table side (x)') // in the way of the second step
    db.close()
    expect(() => openStore(folder, 'test')).toThrow('already exists')
    const again = new Database(databaseOf(folder))
    expect(again.pragma('user_version', { simple: true })).toBe(1)
    expect(again.prepare("select count(*) from pragma_table_info('session') where name = 'binned_at'").pluck().get()).toBe(0)
    again.exec('drop table side')
    again.close()
    expect(opened(folder).sessions.find('s')?.title).toBe('old')
  })

  it('is complete after a first start that was killed in the middle of any of its steps', { timeout: 60_000 }, async () => {
    for (let step = 0; step < migrations.length; step++)
      for (const when of ['half', 'whole']) {
        const folder = freshFolder()
        const { signal, out } = await run(`
          const { openStore } = STORE(store.ts)
          const exec = Database.prototype.exec; let n = -1
          Database.prototype.exec = function (sql) {
            if (!sql.includes('create table') || sql.includes('owner') || ++n < ${String(step)}) return exec.call(this, sql)
            exec.call(this, ${when === 'half' ? "sql.slice(0, sql.indexOf(';', sql.length / 3 ) + 1)" : 'sql'}); die()
          }
          openStore(${JSON.stringify(folder)}, 'test')`)
        expect(signal, out).toBe('SIGKILL')
        const store = opened(folder)
        expect(store.notices).toEqual([])
        store.sessions.insert(session('s'))
        closeAll()
        expectSound(folder)
      }
  })

  it('is brought up to date once when two programs start at the same moment', { timeout: 60_000 }, async () => {
    for (let round = 0; round < 3; round++) {
      const folder = first()
      const at = String(Date.now() + 600)
      const start = (): Promise<{ out: string }> =>
        run(`
          const { openDatabase } = STORE(open/database.ts)
          const exec = Database.prototype.exec; let n = 0
          Database.prototype.exec = function (sql) { if (sql.includes('create table')) n++; return exec.call(this, sql) }
          while (Date.now() < ${at});
          const { db } = openDatabase(${JSON.stringify(databaseOf(folder))})
          console.log(n, db.prepare('select title from session').pluck().get(), db.pragma('user_version', { simple: true }))
          db.close()`)
      const ends = (await Promise.all([start(), start()])).map((e) => /^(\d+) old (\d+)$/.exec(e.out))
      // each step was done once, by one or the other
      expect(ends.reduce((sum, e) => sum + Number(e?.[1]), 0)).toBe(migrations.length - 1)
      expect(ends.map((e) => Number(e?.[2]))).toEqual([migrations.length, migrations.length])
    }
  })
})
