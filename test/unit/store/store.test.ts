// The store's tables: what the database itself guarantees, and who owns a data folder.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, describe, expect, it } from 'vitest'
import { newId } from '../../../src/main/store/id'
import { openStore, type Store } from '../../../src/main/store/store'
import type { Entry } from '../../../src/shared/session'
import { freshFolder } from '../../support/harness'
import { sessionRow } from '../../support/rows'

const entry = (id: string, parentId: string | null, sessionId = 's'): Entry => ({
  id,
  parentId,
  sessionId,
  at: 2,
  type: 'message',
  message: { role: 'user', parts: [{ type: 'text', text: id }] }
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

describe('the store', () => {
  it('keeps entries, head and order over a restart', () => {
    const folder = freshFolder()
    const first = openStore(folder, 'test')
    first.sessions.insert(sessionRow('s'))
    first.entries.add(entry('a', null))
    first.entries.add(entry('b', 'a'))
    first.close()
    const again = opened(folder)
    expect([...again.entries.all('s')].map((e) => e.id)).toEqual(['a', 'b'])
    expect(again.sessions.find('s')?.head).toBe('b')
  })

  it('refuses an entry whose parent is missing, or lives in another session', () => {
    const store = opened(freshFolder())
    store.sessions.insert(sessionRow('s'))
    store.sessions.insert(sessionRow('other'))
    store.entries.add(entry('a', null))
    expect(() => {
      store.entries.add(entry('x', 'nobody'))
    }).toThrow('FOREIGN KEY')
    expect(() => {
      store.entries.add(entry('x', 'a', 'other'))
    }).toThrow('FOREIGN KEY')
    expect(() => {
      store.entries.add(entry('x', 'x'))
    }).toThrow()
    expect(store.entries.count('s')).toBe(1)
  })

  it('refuses to change or delete entries and events, whoever asks', () => {
    const folder = freshFolder()
    const store = opened(folder)
    store.sessions.insert(sessionRow('s'))
    store.entries.add(entry('a', null))
    store.events.append('s', 1, 3, { type: 'head', head: null })
    const foreign = new Database(join(folder, 'tau.db'))
    for (const sql of ["update entry set payload = ''", 'delete from entry', "update event set payload = ''", 'delete from event'])
      expect(() => foreign.exec(sql), sql).toThrow('append-only')
    foreign.close()
  })

  it('numbers events without gaps, also after a transaction that failed', () => {
    const store = opened(freshFolder())
    store.sessions.insert(sessionRow('s'))
    const add = (): number => store.events.append('s', store.events.lastSeq('s') + 1, 1, { type: 'head', head: null }).seq
    expect(add()).toBe(1)
    expect(() =>
      store.write(() => {
        add()
        throw new Error('no')
      })
    ).toThrow('no')
    expect(add()).toBe(2)
    expect(store.events.after('s', 0, 10).map((e) => e.seq)).toEqual([1, 2])
  })

  it('stores all of a transaction or nothing', () => {
    const store = opened(freshFolder())
    expect(() =>
      store.write(() => {
        store.sessions.insert(sessionRow('s'))
        throw new Error('no')
      })
    ).toThrow('no')
    expect(store.sessions.list('open')).toEqual([])
  })
})

describe('text of any kind', () => {
  it.each(['a\0b\u0003', 'half \ud83d', '👨‍👩‍👧 مرحبا é', '\u202etxt', '\'); DROP TABLE entry;-- " ` %s {{x}} ${y}'])(
    '%j is kept as it is, and found',
    (text) => {
      const folder = freshFolder()
      const first = openStore(folder, 'test')
      first.sessions.insert({ ...sessionRow('s'), title: text })
      first.entries.add({ ...entry('a', null), message: { role: 'user', parts: [{ type: 'text', text }] } } as Entry)
      first.sessions.setLabel('s', 'a', text, 1)
      first.close()
      const again = opened(folder)
      expect([...again.entries.all('s')]).toMatchObject([{ message: { parts: [{ text }] } }])
      expect(again.entries.search(text, 5)).toHaveLength(1)
      // columns of text hold whole characters only
      expect(again.sessions.find('s')?.title).toBe(text.toWellFormed())
      expect(again.sessions.labels('s')).toEqual({ a: text.toWellFormed() })
    }
  )
})

describe('what belongs to a session', () => {
  it('goes with it when it is purged from the bin, and not before', () => {
    const folder = freshFolder()
    const store = opened(folder)
    for (const id of ['s', 'other']) {
      store.sessions.insert(sessionRow(id))
      store.entries.add(entry(`${id}-a`, null, id))
      store.sessions.setLabel(id, `${id}-a`, 'here', 1)
      store.sides.begin(id, { id: `${id}-side`, from: `${id}-a`, home: `${id}-a`, name: '', startedAt: 1 })
      store.imported.add(id, { n: 1, line: '{}', entryId: `${id}-a`, foreignId: 'x' })
      store.inbox.add(id, { id: 'i', kind: 'interrupt', text: 'x', at: 1, position: 1, held: true })
      store.events.append(id, 1, 1, { type: 'head', head: null })
    }
    expect(() => {
      store.sessions.purge('s')
    }).toThrow('not in the bin')
    store.sessions.bin('s', 5)
    expect(store.sessions.list('binned')).toMatchObject([{ id: 's', binnedAt: 5 }])
    store.sessions.purge('s')
    expect(store.sessions.find('s')).toBeUndefined()
    expect([store.entries.count('s'), store.events.lastSeq('s'), store.sides.all('s'), store.imported.all('s')]).toEqual([0, 0, [], []])
    expect(store.sides.all('other')).toEqual([{ id: 'other-side', from: 'other-a', home: 'other-a', name: '', startedAt: 1 }])
    store.sides.end('other-side', 'keep', 7)
    expect([store.sides.open('other'), store.sides.all('other')]).toMatchObject([[], [{ ending: 'keep', endedAt: 7 }]])
    expect(store.inbox.waiting('other')).toMatchObject([{ id: 'i', held: true }])
  })
})

describe('the data folder', () => {
  it('belongs to one: a second one is told who has it', () => {
    const folder = freshFolder()
    opened(folder)
    expect(() => openStore(folder, 'cli')).toThrow(new RegExp(`already running on .*\\(test, process ${String(process.pid)}`))
  })

  it('is free again the moment its owner is killed', async () => {
    const folder = freshFolder()
    const script = join(folder, 'hold.cjs')
    writeFileSync(
      script,
      `const D=require(${JSON.stringify(join(process.cwd(), 'node_modules/better-sqlite3'))});const d=new D(${JSON.stringify(join(folder, 'owner.lock'))});
      d.pragma('locking_mode = EXCLUSIVE');d.exec('create table if not exists owner (pid integer); insert into owner values (0)');console.log('held');setInterval(()=>{},1e6)`
    )
    const holder = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
    await new Promise((resolve) => holder.stdout.once('data', resolve))
    expect(() => openStore(folder, 'test')).toThrow('already running')
    holder.kill('SIGKILL')
    await new Promise((resolve) => holder.once('exit', resolve))
    opened(folder)
  })

  it.each([
    ['zeros, as a power cut leaves it', Buffer.alloc(8_192)],
    ['something else', Buffer.from('no lock at all '.repeat(600))]
  ])('whose lock is %s is taken all the same, and by one only', (_what, bytes) => {
    const folder = freshFolder()
    writeFileSync(join(folder, 'owner.lock'), bytes)
    opened(folder)
    expect(() => openStore(folder, 'cli')).toThrow('already running')
  })

  it('that cannot be written says so', () => {
    const file = join(freshFolder(), 'file')
    writeFileSync(file, '')
    expect(() => openStore(join(file, 'below'), 'test')).toThrow('cannot be written')
  })
})

it('makes ids that sort by the time they were made', () => {
  const ids = Array.from({ length: 5_000 }, newId)
  expect([...ids].sort()).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})
