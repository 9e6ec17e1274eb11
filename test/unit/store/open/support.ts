// Data folders in every state, and real processes that open them and are killed on the way.
import { execFileSync, spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Database from 'better-sqlite3'
import { expect } from 'vitest'
import { migrations } from '../../../../src/main/store/open/schema'
import { openStore, type Store } from '../../../../src/main/store/store'
import type { Entry, Session } from '../../../../src/shared/session'
import { freshFolder } from '../../../support/harness'

export const session = (id: string): Session => ({
  id,
  title: `title of ${id}`,
  workspace: '/w',
  model: 'm',
  archived: false,
  mode: 'ask',
  steerMode: 'one-at-a-time',
  followUpMode: 'one-at-a-time',
  createdAt: 1,
  updatedAt: 1,
  state: 'ready'
})
export const entry = (n: number, sessionId: string, words = 'w'.repeat(300)): Entry => ({
  id: `${sessionId}-${String(n)}`,
  parentId: n === 0 ? null : `${sessionId}-${String(n - 1)}`,
  sessionId,
  at: n,
  type: 'message',
  message: { role: 'user', parts: [{ type: 'text', text: `${String(n)} ${words}` }] }
})

const open: Store[] = []
export const opened = (folder: string): Store => {
  const store = openStore(folder, 'test')
  open.push(store)
  return store
}
export const closeAll = (): void => {
  for (const store of open.splice(0)) store.close()
}
export const databaseOf = (folder: string): string => join(folder, 'tau.db')
export const keptIn = (folder: string): string[] => readdirSync(folder).filter((f) => f.startsWith('tau.db.damaged-'))
export const hashOf = (file: string): string => hash('sha256', readFileSync(file))
/** Every file of a folder with its bytes, but for the index of a log, which holds nothing. */
export const bytesOf = (folder: string): Record<string, string> =>
  Object.fromEntries(readdirSync(folder).map((f) => [f, f.endsWith('-shm') ? '' : hashOf(join(folder, f))]))

/** A folder with two sessions of `count` entries, with rows in every table, closed. */
export function filled(count: number): string {
  const folder = freshFolder()
  const store = openStore(folder, 'test')
  store.write(() => {
    for (const id of ['a', 'b']) {
      store.sessions.insert(session(id))
      store.events.append(id, 1, 1, { type: 'session', session: session(id) })
      for (let n = 0; n < count; n++) {
        store.entries.add(entry(n, id))
        store.events.append(id, n + 2, n, { type: 'message_end', entry: entry(n, id) })
      }
      fillBeside(store, id, count)
    }
  })
  store.close()
  return folder
}

function fillBeside(store: Store, id: string, count: number): void {
  const node = `${id}-${String(count >> 1)}`
  store.sessions.setLabel(id, node, 'here', 1)
  store.grants.add({ id: `grant-${id}`, workspace: '/w', sessionId: id, rule: { verdict: 'allow', tool: 'write_file' }, grantedAt: 1 })
  store.sides.begin(id, { id: `side-${id}`, from: node, home: node, name: 'aside', startedAt: 1 })
  store.imported.add(id, { n: 1, line: '{}', entryId: undefined, foreignId: undefined })
  store.imported.add(id, { n: 2, line: '{"x":1}', entryId: node, foreignId: 'f' })
  store.inbox.add(id, { id: `in-${id}`, kind: 'steer', text: 'wait', at: 1, position: 1, held: false })
  store.runs.insert({ id: `run-${id}`, sessionId: id, state: 'completed', model: 'm', turn: 1, startedAt: 1 }, count, node)
  store.runs.addCall(`run-${id}`, 1, 0, 'c', 'read_file')
  store.runs.finishCall(`run-${id}`, 'c', { role: 'tool', callId: 'c', name: 'read_file', code: 'ok', text: 't', durationMs: 1 }, node)
  const approval = { id: `ask-${id}`, runId: `run-${id}`, callId: 'c', tool: 't', label: 'write', arguments: '', askedAt: 1 } as const
  store.runs.ask({ ...approval, preview: { kind: 'arguments' } }, id, 'basis')
}

/** A folder that the first schema left, with a row in every table. */
export function first(): string {
  const folder = freshFolder()
  const db = new Database(databaseOf(folder))
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
    insert into approval values ('p', 's', 'r', '{"id":"p","runId":"r","callId":"c"}', null, 1, null);
    insert into inbox values ('i', 's', 'steer', 'left', 5, 'queued', null, null);
    insert into permission values ('s', 'write_file', 1);
  `)
  db.close()
  return folder
}

/** The database and its log as a power cut or a kill leaves them, in a folder of their own. */
export function leftBehind(folder: string): string {
  const left = freshFolder()
  for (const end of ['', '-wal']) if (existsSync(databaseOf(folder) + end)) copyFileSync(databaseOf(folder) + end, databaseOf(left) + end)
  return left
}

/** Every rule of the schema holds, and what belongs together is together. */
export function expectSound(folder: string): void {
  const db = new Database(databaseOf(folder), { readonly: true })
  try {
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
    expect(db.pragma('foreign_key_check')).toEqual([])
    expect(db.prepare('select session_id from event group by session_id having max(seq) <> count(*)').all()).toEqual([])
    expect(db.prepare('select id from session where head is null and id in (select session_id from entry)').all()).toEqual([])
    expect(db.prepare('select 1 from entry e join entry p on p.id = e.parent_id where p.n >= e.n').all()).toEqual([])
    const first = 'select coalesce(max(seq), 0) + 1 from event where event.session_id = run.session_id'
    expect(db.prepare(`select id from run where first_seq < 1 or first_seq > (${first})`).all()).toEqual([])
    expect(db.prepare("select count(*) from sqlite_master where type = 'trigger'").pluck().get()).toBe(4)
  } finally {
    db.close()
  }
}

/** Runs `script` in a process of its own, with the store's modules at hand; its output and how it ended. */
export async function run(script: string): Promise<{ out: string; signal: string | null }> {
  const source = (path: string): string => pathToFileURL(join(process.cwd(), 'src/main/store', path)).href
  const hooks = `import { registerHooks } from 'node:module'
    registerHooks({ resolve: (specifier, context, next) => {
      try { return next(specifier, context) } catch (error) { if (specifier.startsWith('.')) return next(specifier + '.ts', context); throw error }
    } })`
  const whole = `import { createRequire, syncBuiltinESMExports } from 'node:module'
    import fs from 'node:fs'
    const Database = createRequire(${JSON.stringify(`${process.cwd()}/`)})('better-sqlite3')
    const die = () => { process.kill(process.pid, 'SIGKILL'); for (;;); }
    ${script.replaceAll(/STORE\((\S+?)\)/g, (_all, path: string) => `await import(${JSON.stringify(source(path))})`)}`
  const child = spawn(process.execPath, [
    '--import',
    `data:text/javascript,${encodeURIComponent(hooks)}`,
    '--input-type=module',
    '-e',
    whole
  ])
  let out = ''
  child.stdout.on('data', (piece: Buffer) => (out += piece.toString()))
  child.stderr.on('data', (piece: Buffer) => (out += piece.toString()))
  const signal = await new Promise<string | null>((resolve) =>
    child.on('close', (_code, ended) => {
      resolve(ended)
    })
  )
  return { out: out.trim(), signal }
}

/** Mounts; false where this process may not. */
export function mount(...args: string[]): boolean {
  try {
    execFileSync('mount', args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
export const unmount = (folder: string): void => {
  execFileSync('umount', [folder])
}
