// Data folders with the entries of a case, programs beside them, and what is checked of both.
import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect } from 'vitest'
import type { Tool } from '../../../src/main/loop/tool'
import type { ModelRequest, StreamFn } from '../../../src/main/models/model'
import type { SessionHandle } from '../../../src/main/session/session'
import { newId } from '../../../src/main/store/id'
import { openStore, type Store } from '../../../src/main/store/store'
import { type Message, textOf } from '../../../src/shared/message'
import { freshFolder, type Harness, openHarness, scripted } from '../../support/harness'
import { sessionRow } from '../../support/rows'

export interface Input {
  readonly setup: {
    readonly entries?: readonly { readonly id: string; readonly parent?: string; readonly role: string; readonly text: string }[]
    readonly legacy_jsonl?: readonly string[]
    readonly tool_result_json_escaped?: string
    readonly assistant_json_escaped?: string
    readonly user_text?: string
    readonly title?: string
    readonly clock?: string
  }
  readonly fault: string | null
  readonly then: string
}
export type Checks = Record<string, (value: never) => unknown>

const open: Harness[] = []
const children: ChildProcess[] = []
/** What must be undone after a case, mounts for one. */
export const undo: (() => void)[] = []

/** Ends and undoes everything that a case began. */
export async function cleanUp(): Promise<void> {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  for (const h of open.splice(0)) await h.close()
  for (const step of undo.splice(0)) step()
}
export const kept = (h: Harness): Harness => {
  open.push(h)
  return h
}

export const MODEL = 'scripted:test'
/** A closed data folder with the entries of the case; their ids lead to what was stored. */
export function folderWith(input: Input, prepare: (store: Store, sessionId: string, ids: Map<string, string>) => void = () => undefined) {
  const home = freshFolder('home')
  const workspace = freshFolder('work')
  const store = openStore(home, 'test')
  const sessionId = newId()
  const ids = new Map<string, string>()
  const session = sessionRow(sessionId, { title: 'kept', workspace, model: MODEL })
  store.write(() => {
    store.sessions.insert(session)
    store.events.append(sessionId, 1, 1, { type: 'session', session })
    for (const { id, parent, role, text } of input.setup.entries ?? []) {
      ids.set(id, newId())
      const parentId = parent === undefined ? null : (ids.get(parent) ?? null)
      store.entries.add({ id: ids.get(id) ?? '', sessionId, parentId, at: 1, type: 'message', message: said(role, text) })
    }
    prepare(store, sessionId, ids)
  })
  store.close()
  return { home, workspace, sessionId, ids }
}
export const said = (role: string, text: string): Message =>
  role === 'assistant'
    ? { role: 'assistant', parts: [{ type: 'text', text }], model: MODEL, stopReason: 'stop' }
    : { role: 'user', parts: [{ type: 'text', text }] }

interface Started {
  readonly h: Harness
  readonly session: SessionHandle
  readonly requests: ModelRequest[]
  readonly told: unknown[]
}
export function start(
  { home, workspace, sessionId }: ReturnType<typeof folderWith>,
  script: StreamFn | string = 'repeat\nsay: answer',
  tools?: readonly Tool[]
): Started {
  const requests: ModelRequest[] = []
  const told: unknown[] = []
  const play = typeof script === 'string' ? scripted(script) : script
  const stream: StreamFn = (request, signal) => {
    requests.push({ ...request, messages: [...request.messages] })
    return play(request, signal)
  }
  const h = openHarness(stream, {
    home,
    workspace,
    storage: { trouble: (error) => told.push(error), well: () => undefined },
    ...(tools && { tools })
  })
  open.push(h)
  const session = h.sessions.get(sessionId)
  if (!session) throw new Error('the session is gone')
  return { h, session, requests, told }
}
/** Runs a script in a process of its own, which is killed with the test; resolves when it prints its first line. */
export async function beside(script: string): Promise<ChildProcess> {
  const file = join(freshFolder('script'), 'script.cjs')
  const sqlite = join(process.cwd(), 'node_modules/better-sqlite3')
  writeFileSync(file, `const Database = require(${JSON.stringify(sqlite)});\n${script}`)
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  await new Promise((resolve) => child.stdout.once('data', resolve))
  return child
}
export const gone = (child: ChildProcess): Promise<unknown> => new Promise((resolve) => child.once('exit', resolve))
export const file = (home: string): string => join(home, 'tau.db')
export const hasEntries = (h: Harness, sessionId: string, ids: Map<string, string>) => (names: string[]) => {
  for (const name of names) expect(h.store.entries.find(sessionId, ids.get(name) ?? name), name).toBeDefined()
}
export const texts = (h: Harness, sessionId: string): string[] =>
  [...h.store.entries.all(sessionId)].flatMap((e) => (e.type === 'message' ? [textOf(e.message)] : []))
export function integrity(home: string): unknown {
  const db = new Database(file(home), { readonly: true })
  const found = db.pragma('integrity_check', { simple: true })
  db.close()
  return found
}
