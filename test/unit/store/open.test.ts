// What a data folder may look like when Tau starts: damaged, torn, old, new, read-only. Real files, real mounts.
import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, describe, expect, it } from 'vitest'
import { migrations } from '../../../src/main/store/open/schema'
import { hasTornTail } from '../../../src/main/store/open/wal'
import { openStore, type Store } from '../../../src/main/store/store'
import type { Entry } from '../../../src/shared/session'
import { freshFolder } from '../../support/harness'
import { sessionRow } from '../../support/rows'

const entry = (n: number, sessionId: string, words = 'w'.repeat(300)): Entry => ({
  id: `${sessionId}-${String(n)}`,
  parentId: n === 0 ? null : `${sessionId}-${String(n - 1)}`,
  sessionId,
  at: n,
  type: 'message',
  message: { role: 'user', parts: [{ type: 'text', text: `${String(n)} ${words}` }] }
})
const open: Store[] = []
const opened = (folder: string): Store => {
  const store = openStore(folder, 'test')
  open.push(store)
  return store
}
afterEach(() => {
  for (const store of open.splice(0)) store.close()
})
/** A folder with two sessions of `count` entries, closed. */
function filled(count: number): string {
  const folder = freshFolder()
  const store = openStore(folder, 'test')
  store.write(() => {
    for (const id of ['a', 'b']) {
      store.sessions.insert(sessionRow(id))
      store.events.append(id, 1, 1, { type: 'session', session: sessionRow(id) })
      for (let n = 0; n < count; n++) {
        store.entries.add(entry(n, id))
        store.events.append(id, n + 2, n, { type: 'message_end', entry: entry(n, id) })
      }
    }
  })
  store.close()
  return folder
}
function expectSound(folder: string): void {
  const db = new Database(join(folder, 'tau.db'), { readonly: true })
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
  expect(db.pragma('foreign_key_check')).toEqual([])
  expect(db.prepare('select session_id from event group by session_id having max(seq) <> count(*)').all()).toEqual([])
  expect(db.prepare("select count(*) from sqlite_master where type = 'trigger'").pluck().get()).toBe(4)
  db.close()
}

describe('a damaged database', () => {
  it('that is none at all is kept aside, and Tau begins empty and says so', () => {
    const folder = freshFolder()
    writeFileSync(join(folder, 'tau.db'), 'this is no database, but it is long enough to be read as one'.repeat(200))
    const store = opened(folder)
    expect(store.notices).toMatchObject([{ code: 'salvaged', message: expect.stringContaining('kept as') as string }])
    expect(store.sessions.list('open')).toEqual([])
    const [kept] = readdirSync(folder).filter((f) => f.startsWith('tau.db.damaged-'))
    expect(readFileSync(join(folder, kept ?? ''), 'utf8')).toContain('this is no database')
    expectSound(folder)
  })

  it.each([0.2, 0.5, 0.8])('with broken pages in it (at %d of it) gives what can be read', (share) => {
    const folder = filled(400)
    const file = join(folder, 'tau.db')
    const bytes = readFileSync(file)
    const page = Math.floor((bytes.length * share) / 4096) * 4096
    bytes.fill(0xa5, page, page + 3 * 4096)
    writeFileSync(file, bytes)
    const store = opened(folder)
    expect(store.notices.map((n) => n.code)).toEqual(['salvaged'])
    const saved = ['a', 'b'].reduce((sum, id) => sum + store.entries.count(id), 0)
    expect(saved).toBeGreaterThan(400)
    for (const s of store.sessions.list('open')) expect(store.sessions.find(s.id)?.head).not.toBeNull()
    expectSound(folder)
  })

  it('that was cut gives what was before the cut', () => {
    const folder = filled(400)
    const file = join(folder, 'tau.db')
    truncateSync(file, Math.floor(readFileSync(file).length / 2 / 4096) * 4096)
    const store = opened(folder)
    expect(store.notices.map((n) => n.code)).toEqual(['salvaged'])
    expect(store.entries.count('a') + store.entries.count('b')).toBeGreaterThan(100)
    expectSound(folder)
  })
})

describe('a write-ahead log', () => {
  /** The folder as a power cut leaves it: the database and its log as they are, the process gone. */
  function cut(change: (log: Buffer) => void): string {
    const folder = filled(2)
    const store = openStore(folder, 'test')
    for (let n = 2; n < 8; n++)
      store.write(() => {
        store.entries.add(entry(n, 'a', 'w'.repeat(5_000)))
      })
    const left = freshFolder()
    for (const end of ['', '-wal']) copyFileSync(join(folder, `tau.db${end}`), join(left, `tau.db${end}`))
    store.close()
    const log = readFileSync(join(left, 'tau.db-wal'))
    change(log)
    writeFileSync(join(left, 'tau.db-wal'), log)
    return left
  }
  it.each([
    ['zeros', (log: Buffer) => log.fill(0, log.length - 4096)],
    ['other bytes', (log: Buffer) => log.fill(0x5a, log.length - 4096)]
  ])('whose end is %s is told of, and everything before it is there', (_what, change) => {
    const folder = cut(change)
    const store = opened(folder)
    expect(store.notices.map((n) => n.code)).toEqual(['torn_tail'])
    expect(store.entries.count('a')).toBeGreaterThanOrEqual(6)
    expect(store.entries.count('a')).toBeLessThan(8)
  })
  it('that is whole is not, nor one with the remains of an older generation', () => {
    const folder = cut(() => undefined)
    expect(hasTornTail(join(folder, 'tau.db-wal'))).toBe(false)
    expect(opened(folder).entries.count('a')).toBe(8)
    const db = new Database(join(freshFolder(), 'x.db'))
    db.pragma('journal_mode = WAL')
    db.exec('create table t (x)')
    for (let i = 0; i < 50; i++) db.exec(`insert into t values (randomblob(3000))`)
    db.pragma('wal_checkpoint(RESTART)')
    db.exec('insert into t values (1)')
    expect(hasTornTail(`${db.name}-wal`)).toBe(false)
    db.close()
  })
})

describe('the schema', () => {
  it('of each older version is brought up to date with everything in it', () => {
    const folder = freshFolder()
    const db = new Database(join(folder, 'tau.db'))
    db.pragma('journal_mode = WAL')
    db.exec(migrations[0] ?? '')
    db.pragma('user_version = 1')
    const message = JSON.stringify({ role: 'user', parts: [{ type: 'text', text: 'hello' }] })
    db.exec(`
      insert into session (id, title, workspace, model, state, created_at, updated_at) values ('s', 'old', '/w', 'm', 'completed', 1, 2);
      insert into entry (id, session_id, parent_id, at, type, payload) values ('e', 's', null, 1, 'message', '${message}');
      update session set head = 'e' where id = 's';
      insert into event values ('s', 1, 1, null, null, 'message_end', '{"entry":{"id":"e","sessionId":"s","parentId":null,"at":1,"type":"message","message":${message}}}');
      insert into run (id, session_id, state, model, turn, first_seq, started_at, ended_at) values ('r', 's', 'completed', 'm', 1, 1, 1, 2);
      insert into call values ('r', 'c', 1, 0, 'read_file', 1, '{"role":"tool","callId":"c","name":"read_file","code":"ok","text":"t","durationMs":1}');
      insert into inbox values ('i', 's', 'steer', 'left', 5, 'queued', null, null);
      insert into permission values ('s', 'write_file', 1);
    `)
    db.close()
    for (const start of ['first', 'second']) {
      const store = openStore(folder, 'test')
      expect(store.sessions.find('s'), start).toMatchObject({ title: 'old', head: 'e', steerMode: 'one-at-a-time' })
      expect([...store.entries.all('s')]).toMatchObject([{ id: 'e', message: { parts: [{ text: 'hello' }] } }])
      expect(store.events.after('s', 0, 9)).toMatchObject([{ type: 'message_end', entry: { id: 'e' } }])
      expect(store.runs.allCalls('r')).toMatchObject([{ result: { text: 't' } }])
      expect(store.inbox.waiting('s')).toMatchObject([{ id: 'i', kind: 'steer', text: 'left', position: 5, held: false }])
      expect(store.sessions.permissions('s')).toEqual(['write_file'])
      store.close()
    }
    expectSound(folder)
  })

  it('of a newer Tau is refused, and not a byte of it is touched', () => {
    const folder = filled(1)
    const db = new Database(join(folder, 'tau.db'))
    db.pragma('journal_mode = DELETE')
    db.pragma('user_version = 99')
    db.close()
    const before = hash('sha256', readFileSync(join(folder, 'tau.db')))
    expect(() => openStore(folder, 'test')).toThrow('newer Tau')
    expect(hash('sha256', readFileSync(join(folder, 'tau.db')))).toBe(before)
  })

  it('is complete after a start that was killed while it was made', () => {
    for (let killAt = 0; killAt < migrations.length; killAt++) {
      const folder = freshFolder()
      const db = new Database(join(folder, 'tau.db'))
      db.pragma('journal_mode = WAL')
      for (let i = 0; i < killAt; i++) {
        db.exec(migrations[i] ?? '')
        db.pragma(`user_version = ${String(i + 1)}`)
      }
      db.exec('begin immediate')
      db.exec((migrations[killAt] ?? '').slice(0, (migrations[killAt] ?? '').indexOf(';') + 1))
      const left = freshFolder()
      for (const end of ['', '-wal'])
        if (existsSync(join(folder, `tau.db${end}`))) copyFileSync(join(folder, `tau.db${end}`), join(left, `tau.db${end}`))
      db.exec('rollback')
      db.close()
      opened(left).sessions.insert(sessionRow('s'))
      expectSound(left)
    }
  })
})

function mounted(folder: string): boolean {
  try {
    execFileSync('mount', ['--bind', folder, folder], { stdio: 'ignore' })
    execFileSync('mount', ['-o', 'remount,ro,bind', folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

describe('a read-only disk', () => {
  it('is read, and every write is refused in words', ({ skip }) => {
    const folder = filled(3)
    rmSync(join(folder, 'owner.lock'), { force: true })
    if (!mounted(folder)) skip('this process may not mount')
    try {
      const store = openStore(folder, 'test')
      expect(store.mode).toBe('read-only')
      expect(store.notices.map((n) => n.code)).toEqual(['read_only'])
      expect([...store.entries.all('a')]).toHaveLength(3)
      expect(() => {
        store.write(() => undefined)
      }).toThrow('nothing can be saved')
      store.close()
    } finally {
      execFileSync('umount', [folder])
    }
  })
})
