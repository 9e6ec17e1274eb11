// Faults of storing that people met: kills, power cuts, two programs at once, disks that refuse, odd characters. Real files, real processes.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { migrations } from '../../src/main/store/open/schema'
import { newId } from '../../src/main/store/id'
import { openStore, type Store } from '../../src/main/store/store'
import { exportSession, fileNameFor, importSession } from '../../src/main/store/transfer'
import { buildChatBody } from '../../src/main/models/ollama/body'
import type { SessionHandle } from '../../src/main/session/session'
import type { Tool } from '../../src/main/loop/tool'
import { type Message, textOf } from '../../src/shared/message'
import type { Entry } from '../../src/shared/session'
import type { ModelRequest, StreamFn } from '../../src/main/models/model'
import { freshFolder, type Harness, openHarness, say, scripted, waitFor } from '../support/harness'
import { runCli, startWeb, until } from '../support/host'
import { judge, loadCases } from './cases'

interface Input {
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
type Checks = Record<string, (value: never) => unknown>

const open: Harness[] = []
const children: ChildProcess[] = []
const undo: (() => void)[] = []
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  for (const h of open.splice(0)) await h.close()
  for (const step of undo.splice(0)) step()
})

describe.each(loadCases<Input>('persistence'))('$n', ({ note, input, expect: expected }) => {
  it(note, { timeout: 120_000 }, async ({ skip }) => {
    const found = FAULTS.find(([words]) => words.test(input.fault ?? input.then))
    if (!found) throw new Error(`the runner cannot play "${input.fault ?? input.then}"`)
    const checks = await found[1](input)
    if (checks === undefined) skip('this process may not do what the fault needs')
    else await judge(expected, checks)
  })
})

// --- setting up

const MODEL = 'scripted:test'
/** A closed data folder with the entries of the case; their ids lead to what was stored. */
function folderWith(input: Input, prepare: (store: Store, sessionId: string, ids: Map<string, string>) => void = () => undefined) {
  const home = freshFolder('home')
  const workspace = freshFolder('work')
  const store = openStore(home, 'test')
  const sessionId = newId()
  const ids = new Map<string, string>()
  const modes = { steerMode: 'one-at-a-time', followUpMode: 'one-at-a-time' } as const
  const session = {
    id: sessionId,
    title: 'kept',
    workspace,
    model: MODEL,
    archived: false,
    ...modes,
    createdAt: 1,
    updatedAt: 1,
    state: 'ready' as const
  }
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
const said = (role: string, text: string): Message =>
  role === 'assistant'
    ? { role: 'assistant', parts: [{ type: 'text', text }], model: MODEL, stopReason: 'stop' }
    : { role: 'user', parts: [{ type: 'text', text }] }

interface Started {
  readonly h: Harness
  readonly session: SessionHandle
  readonly requests: ModelRequest[]
  readonly told: unknown[]
}
function start(
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
async function beside(script: string): Promise<ChildProcess> {
  const file = join(freshFolder('script'), 'script.cjs')
  const sqlite = join(process.cwd(), 'node_modules/better-sqlite3')
  writeFileSync(file, `const Database = require(${JSON.stringify(sqlite)});\n${script}`)
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  await new Promise((resolve) => child.stdout.once('data', resolve))
  return child
}
const gone = (child: ChildProcess): Promise<unknown> => new Promise((resolve) => child.once('exit', resolve))
const file = (home: string): string => join(home, 'tau.db')
const hasEntries = (h: Harness, sessionId: string, ids: Map<string, string>) => (names: string[]) => {
  for (const name of names) expect(h.store.entries.find(sessionId, ids.get(name) ?? name), name).toBeDefined()
}
const texts = (h: Harness, sessionId: string): string[] =>
  [...h.store.entries.all(sessionId)].flatMap((e) => (e.type === 'message' ? [textOf(e.message)] : []))
function integrity(home: string): unknown {
  const db = new Database(file(home), { readonly: true })
  const found = db.pragma('integrity_check', { simple: true })
  db.close()
  return found
}

// --- the faults, by the words of the case

const FAULTS: [RegExp, (input: Input) => Promise<Checks | undefined> | Checks | undefined][] = [
  [/SIGKILL between the statements/, killedBetweenStatements],
  [/SIGKILL while .* streams/, killedWhileStreaming],
  [/SIGKILL after tool call/, killedInTool],
  [/last \d+ bytes of the write-ahead log/, powerLoss],
  [/very first start/, killedAtFirstStart],
  [/import of a log/, importOfCutLog],
  [/holds a write transaction for (\d+) s/, heldByAnother],
  [/starts the app a second time/, secondStart],
  [/both instances add a child/, twoWriters],
  [/both want to migrate/, twoMigrations],
  [/read-only medium/, readOnly],
  [/send to the model, export as JSON/, oddToolResult],
  [/store, reload, send to the model$/, oddAnswer],
  [/search for it/, oddUserText],
  [/file named after the title/, oddTitle],
  [/store, search, export/, oddUserText],
  [/clock right/, wrongClock]
]

async function killedBetweenStatements(input: Input): Promise<Checks> {
  const made = folderWith(input)
  const half = newId()
  const head = made.ids.get('u2') ?? ''
  const child = await beside(`
    const db = new Database(${JSON.stringify(file(made.home))}); db.pragma('journal_mode = WAL'); db.pragma('cache_size = 1'); db.exec('begin immediate');
    db.prepare("insert into entry (id, session_id, parent_id, at, type, payload) values (?, ?, ?, 1, 'message', ?)")
      .run(${JSON.stringify(half)}, ${JSON.stringify(made.sessionId)}, ${JSON.stringify(head)}, '{"role":"assistant","parts":[{"type":"text","text":"' + 'half '.repeat(20000) + '"}],"model":"m","stopReason":"stop"}');
    console.log('stored half'); setInterval(() => {}, 1000)`)
  const dead = gone(child)
  child.kill('SIGKILL')
  await dead
  const { h, session } = start(made)
  const visible = h.store.entries.find(made.sessionId, half)
  await say(session, 'four')
  const four = [...h.store.entries.all(made.sessionId)].find((e) => e.type === 'message' && textOf(e.message) === 'four')
  return {
    entries_present: hasEntries(h, made.sessionId, made.ids),
    half_entry_visible: (is: boolean) => {
      expect(visible !== undefined).toBe(is)
    },
    new_entry_parent: (name: string) => {
      expect(four?.parentId).toBe(made.ids.get(name))
    },
    integrity_check: (ok: string) => {
      expect(integrity(made.home)).toBe(ok)
    },
    append_ok: (ok: boolean) => {
      expect(session.info.state === 'completed').toBe(ok)
    }
  }
}

/** A real host with a scripted model, killed when `when` says so. */
async function killedHost(
  input: Input,
  script: string,
  act: (host: Awaited<ReturnType<typeof startWeb>>, sessionId: string) => Promise<void>
) {
  const made = folderWith(input)
  const talk = join(made.workspace, 'talk.script')
  writeFileSync(talk, script)
  const host = await startWeb({ home: made.home, workspace: made.workspace })
  const { api } = await host.connect()
  await api.sessions.setModel({ sessionId: made.sessionId, model: `scripted:${talk}` })
  await act(host, made.sessionId)
  await host.end('SIGKILL')
  return made
}

async function killedWhileStreaming(input: Input): Promise<Checks> {
  let shown = ''
  const made = await killedHost(
    input,
    `repeat\nspeed: 400\nsay: ${Array.from({ length: 3_000 }, (_, i) => `w${String(i)}`).join(' ')}`,
    async (host, sessionId) => {
      const { api } = await host.connect()
      const { seq } = await api.sessions.open({ sessionId })
      await api.run.retry({ sessionId })
      for await (const event of await api.sessions.watch({ sessionId, after: seq })) {
        if (event.type === 'message_update') shown += event.delta
        if (shown.split(' ').length > 500) return
      }
    }
  )
  const { h } = start(made)
  const answer = [...h.store.entries.all(made.sessionId)].findLast((e) => e.type === 'message' && e.message.role === 'assistant')
  return {
    entries_present: hasEntries(h, made.sessionId, made.ids),
    partial_answer: () => {
      expect(answer).toMatchObject({ message: { stopReason: 'interrupted' } })
      expect(answer?.type === 'message' && textOf(answer.message).length).toBeGreaterThan(0)
    },
    lost_text_max_s: () => {
      // what a client had been shown is there, so nothing older than the 33 ms between two looks at the disk is lost
      expect(answer?.type === 'message' && textOf(answer.message).startsWith(shown.slice(0, shown.length - 100))).toBe(true)
    }
  }
}

/** What a kill would leave of a folder at this moment: the system keeps what the process has written. */
function leftBy(home: string): string {
  const left = freshFolder('home')
  for (const end of ['', '-wal']) copyFileSync(`${file(home)}${end}`, `${file(left)}${end}`)
  return left
}

async function killedInTool(input: Input): Promise<Checks> {
  const made = folderWith(input)
  const { sessionId } = made
  let ran = 0
  const pay: Tool = {
    name: 'pay',
    description: 'pays',
    label: 'write',
    replay: 'never',
    parameters: z.object({}),
    execute: () => {
      ran++
      return new Promise(() => undefined)
    }
  }
  const before = start(made, 'repeat\ncall: pay {}', [pay])
  await before.session.retry()
  const { approval } = await waitFor(before.session, 'approval_request')
  await before.session.answer(approval.id, { kind: 'allow', scope: 'once' })
  await until('the effect', () => ran === 1)
  const left = leftBy(made.home)
  const { h, session, requests } = start({ ...made, home: left }, 'repeat\nsay: fine', [pay])
  const result = [...h.store.entries.all(sessionId)].find((e) => e.type === 'message' && e.message.role === 'tool')
  const [call] = session.runs().at(-1)?.calls ?? []
  const { state } = session.info
  await say(session, 'go on')
  return {
    call_state: () => {
      expect(state).toBe('interrupted')
      expect(call?.state).toBe('unknown')
      expect(result).toMatchObject({ message: { code: 'unknown_outcome' } })
    },
    rerun_automatically: (is: boolean) => {
      expect(ran > 1).toBe(is)
    },
    next_request_valid: () => {
      const messages = requests.at(-1)?.messages ?? []
      const at = messages.findIndex((m) => m.role === 'assistant' && m.parts.some((p) => p.type === 'call'))
      expect(messages[at + 1]).toMatchObject({ role: 'tool', code: 'unknown_outcome' })
    }
  }
}

function powerLoss(input: Input): Checks {
  const made = folderWith({ ...input, setup: { entries: [] } })
  const store = openStore(made.home, 'test')
  for (const { id, parent, role, text } of input.setup.entries ?? []) {
    made.ids.set(id, newId())
    const parentId = parent === undefined ? null : (made.ids.get(parent) ?? null)
    const entry: Entry = {
      id: made.ids.get(id) ?? '',
      sessionId: made.sessionId,
      parentId,
      at: 1,
      type: 'message',
      message: said(role, text)
    }
    store.write(() => {
      store.entries.add(entry)
    })
  }
  const home = freshFolder('home')
  for (const end of ['', '-wal']) copyFileSync(`${file(made.home)}${end}`, `${file(home)}${end}`)
  store.close()
  const bytes = Number(/last (\d+) bytes/.exec(input.fault ?? '')?.[1])
  const log = readFileSync(`${file(home)}-wal`)
  log.fill(0, log.length - bytes)
  writeFileSync(`${file(home)}-wal`, log)
  const { h } = start({ ...made, home })
  return {
    app_starts: () => {
      expect(h.store.mode).toBe('read-write')
    },
    entries_present_at_least: hasEntries(h, made.sessionId, made.ids),
    user_told: () => {
      expect(h.store.notices.map((n) => n.code)).toContain('torn_tail')
    }
  }
}

async function killedAtFirstStart(): Promise<Checks> {
  const home = freshFolder('home')
  mkdirSync(home, { recursive: true })
  const child = await beside(`
    const db = new Database(${JSON.stringify(file(home))}); db.pragma('journal_mode = WAL'); db.exec('begin immediate');
    db.exec('create table session (id text primary key) strict'); console.log('half'); setInterval(() => {}, 1000)`)
  const dead = gone(child)
  child.kill('SIGKILL')
  await dead
  const store = openStore(home, 'test')
  const list = store.sessions.list('open')
  store.close()
  const db = new Database(file(home), { readonly: true })
  const version = db.pragma('user_version', { simple: true })
  db.close()
  return {
    app_starts: () => {
      expect(list).toEqual([])
    },
    schema_complete: () => {
      expect(version).toBe(migrations.length)
    }
  }
}

function importOfCutLog(input: Input): Checks {
  const source = join(freshFolder(), 'log.jsonl')
  const text = (input.setup.legacy_jsonl ?? []).join('\n')
  writeFileSync(source, text)
  const store = openStore(freshFolder('home'), 'test')
  undo.push(() => {
    store.close()
  })
  const made = importSession(store, readFileSync(source, 'utf8'), { fallbackWorkspace: '/w', model: 'm', at: 1 })
  return {
    imported: (ids: string[]) => {
      const lines = made.ok ? store.imported.all(made.session.id) : []
      expect(lines.flatMap((l) => (l.entryId === undefined ? [] : [l.foreignId]))).toEqual(ids)
    },
    bad_lines_reported: (count: number) => {
      expect(made.ok && made.bad).toHaveLength(count)
    },
    source_file_unchanged: () => {
      expect(readFileSync(source, 'utf8')).toBe(text)
    }
  }
}

async function heldByAnother(input: Input): Promise<Checks> {
  const made = folderWith(input)
  // a minute would test nothing that a few seconds do not
  const seconds = Math.min(8, Number(/for (\d+) s/.exec(input.fault ?? '')?.[1]))
  const { h, session, told } = start(made)
  await beside(`
    const db = new Database(${JSON.stringify(file(made.home))}); db.exec('begin immediate'); console.log('held');
    setTimeout(() => { db.exec('rollback'); db.close() }, ${String(seconds * 1_000)})`)
  const began = performance.now()
  const errors: unknown[] = []
  const sending = session.prompt({ text: 'four', itemId: 'four' }).catch((error: unknown) => {
    errors.push(error)
  })
  await sleep(1_500)
  const during = { state: session.info.state, told: told.length }
  await sending
  const ms = performance.now() - began
  await session.waitForIdle()
  return {
    stored: () => {
      expect(texts(h, made.sessionId)).toContain('four')
    },
    delay_ms_max: (limit: number) => {
      expect(ms).toBeLessThan(limit)
    },
    error_dialogs: (count: number) => {
      expect(errors).toHaveLength(count)
    },
    user_told: () => {
      expect(during.told).toBeGreaterThan(0)
      expect(told[0]).toMatchObject({ code: 'SQLITE_BUSY' })
    },
    text_lost: (is: boolean) => {
      expect(!texts(h, made.sessionId).includes('four')).toBe(is)
    },
    stored_after_release: () => {
      expect(texts(h, made.sessionId)).toContain('four')
    },
    run_reported_as_success: () => {
      expect(during.state).not.toBe('completed')
    }
  }
}

async function secondStart(input: Input): Promise<Checks> {
  const made = folderWith(input)
  const host = await startWeb({ home: made.home, workspace: made.workspace })
  const { sessionId } = made
  const talk = join(made.workspace, 'talk.script')
  writeFileSync(talk, 'repeat\nsay: fine')
  const second = await startWeb({ home: made.home, workspace: made.workspace, mayHandOver: true })
  const { api } = await host.connect()
  await api.sessions.setModel({ sessionId, model: `scripted:${talk}` })
  await api.run.prompt({ sessionId, text: 'from the first', itemId: 'a' })
  const cli = await runCli(['ask', 'from the second', '--session', sessionId], { home: made.home })
  await until('both', async () => (await api.sessions.open({ sessionId })).session.state === 'completed')
  const words = (await api.sessions.tree({ sessionId })).map((n) => n.text)
  await host.end()
  return {
    second_instance: () => {
      expect(second.handedOver).toMatch(/running already: http:/)
      expect(cli.code).toBe(0)
    },
    both_append_without_loss: () => {
      expect(words).toEqual(expect.arrayContaining(['from the first', 'from the second']))
    }
  }
}

async function twoWriters(input: Input): Promise<Checks> {
  const made = folderWith(input)
  const { h, session } = start(made)
  const parentId = made.ids.get('u2') ?? null
  const both = ['one', 'two'].map((text) => session.prompt({ text, itemId: text, parentId }))
  await Promise.all(both)
  await until('both answers', () => Promise.resolve(h.store.entries.count(made.sessionId) >= 7))
  await session.waitForIdle()
  const children = h.store.entries.children(made.sessionId, parentId)
  const all = [...h.store.entries.all(made.sessionId)].map((e) => e.id)
  return {
    children_of_u2: (count: number) => {
      expect(children).toHaveLength(count)
    },
    both_complete: () => {
      for (const id of children) expect(h.store.entries.children(made.sessionId, id)).toHaveLength(1)
      expect(texts(h, made.sessionId)).toEqual(expect.arrayContaining(['one', 'two']))
    },
    ids_unique: () => {
      expect(new Set(all).size).toBe(all.length)
    }
  }
}

/** Two programs open a folder of an older version at the same moment: one migrates and has it, the other is handed to it. */
async function twoMigrations(): Promise<Checks> {
  const home = freshFolder('home')
  const old = new Database(file(home))
  old.pragma('journal_mode = WAL')
  old.exec(migrations[0] ?? '')
  old.pragma('user_version = 1')
  old.close()
  const starts = await Promise.all([startWeb({ home, mayHandOver: true }), startWeb({ home, mayHandOver: true })])
  const owner = starts.find((s) => s.handedOver === undefined)
  const { api } = (await owner?.connect()) ?? {}
  const made = await api?.sessions.create({ title: 'usable' })
  const cli = await runCli(['sessions'], { home })
  await owner?.end()
  const db = new Database(file(home), { readonly: true })
  const version = db.pragma('user_version', { simple: true })
  db.close()
  return {
    migrations_run: () => {
      expect(version).toBe(migrations.length)
      expect(integrity(home)).toBe('ok')
    },
    both_usable: () => {
      expect(starts.filter((s) => s.handedOver !== undefined)).toHaveLength(1)
      expect(made?.title).toBe('usable')
      expect(cli.out).toContain('usable')
    }
  }
}

async function readOnly(input: Input): Promise<Checks | undefined> {
  const made = folderWith(input)
  try {
    execFileSync('mount', ['--bind', made.home, made.home], { stdio: 'ignore' })
    undo.push(() => {
      execFileSync('umount', [made.home])
    })
    execFileSync('mount', ['-o', 'remount,ro,bind', made.home], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  const host = await startWeb({ home: made.home, workspace: made.workspace })
  const { api } = await host.connect()
  const { entries } = await api.sessions.open({ sessionId: made.sessionId })
  const state = await api.app.refresh()
  const refused = await api.run.prompt({ sessionId: made.sessionId, text: 'four', itemId: 'four' }).catch((error: unknown) => error)
  await host.end()
  return {
    app_starts: () => {
      expect(host.origin).toContain('http://')
    },
    history_readable: () => {
      expect(entries).toHaveLength(input.setup.entries?.length ?? 0)
    },
    user_told: () => {
      expect(state.storage).toMatchObject({ state: 'read-only' })
    },
    sending_blocked_or_marked_unsaved: () => {
      expect(refused).toMatchObject({ code: 'UNSTORED' })
    }
  }
}

const unescaped = (escaped: string): string => JSON.parse(`"${escaped}"`) as string
/** Stores messages after a question, opens the folder again, and asks the model something. */
async function reloaded(messages: readonly Message[]) {
  const made = folderWith({ setup: {}, fault: null, then: '' }, (store, sessionId) => {
    let parentId: string | null = null
    for (const message of messages) {
      const id = newId()
      store.entries.add({ id, sessionId, parentId, at: 1, type: 'message', message })
      parentId = id
    }
  })
  const started = start(made)
  const stored = [...started.h.store.entries.all(made.sessionId)]
  await say(started.session, 'Go on.')
  const request = started.requests.at(-1)
  if (!request) throw new Error('no request was made')
  const body = JSON.stringify(buildChatBody(request, { model: 'm', window: 8_192, tools: true }))
  const json = [...(exportSession(started.h.store, made.sessionId, 'json') ?? [])].join('')
  return { ...started, made, stored, body, json }
}
const call: Message = {
  role: 'assistant',
  parts: [{ type: 'call', id: 'c', name: 't', arguments: '{}' }],
  model: MODEL,
  stopReason: 'calls'
}

async function oddToolResult(input: Input): Promise<Checks> {
  const text = unescaped(input.setup.tool_result_json_escaped ?? '')
  const { stored, json } = await reloaded([
    said('user', 'run'),
    call,
    { role: 'tool', callId: 'c', name: 't', code: 'ok', text, durationMs: 1 }
  ])
  const back = stored[2]?.type === 'message' ? textOf(stored[2].message) : ''
  return {
    text_after_reload_json_escaped: (expected: string) => {
      expect(back).toBe(unescaped(expected))
    },
    text_cut_at_nul: (is: boolean) => {
      expect(back.length < text.length).toBe(is)
    },
    export_is_valid_json: () => {
      expect(JSON.parse(json)).toMatchObject({ tau: 1 })
    }
  }
}

async function oddAnswer(input: Input): Promise<Checks> {
  const text = unescaped(input.setup.assistant_json_escaped ?? '')
  const { stored, body } = await reloaded([said('user', 'hi'), said('assistant', text)])
  return {
    stored: () => {
      expect(stored[1]?.type === 'message' && textOf(stored[1].message).toWellFormed()).toBe(text.toWellFormed())
    },
    request_body_is_valid_utf8: () => {
      const bytes = Buffer.from(body)
      expect(new TextDecoder('utf-8', { fatal: true }).decode(bytes)).toBe(body)
      expect(JSON.parse(bytes.toString('utf8'))).toMatchObject({ model: 'm' })
    }
  }
}

async function oddUserText(input: Input): Promise<Checks> {
  const text = input.setup.user_text ?? ''
  const { h, session, made, stored, json } = await reloaded([said('user', text), said('assistant', 'ok')])
  await say(session, text)
  return {
    text_unchanged: () => {
      expect(stored[0]?.type === 'message' && textOf(stored[0].message)).toBe(text)
      expect(texts(h, made.sessionId).filter((t) => t === text)).toHaveLength(2)
      expect(json).toContain(JSON.stringify(text))
    },
    found_by_search: () => {
      expect(h.store.entries.search(text, 10).map((f) => f.sessionId)).toContain(made.sessionId)
    },
    tables_intact: () => {
      expect(h.store.entries.search(text, 10).length).toBeGreaterThan(0)
      expect(integrity(made.home)).toBe('ok')
    }
  }
}

function oddTitle(input: Input): Checks {
  const title = input.setup.title ?? ''
  const made = folderWith({ setup: { entries: [{ id: 'u1', role: 'user', text: 'hi' }] }, fault: null, then: '' })
  const { h, session } = start(made)
  session.rename(title)
  const name = fileNameFor(session.info.title, 'json')
  const target = join(freshFolder(), name)
  writeFileSync(target, [...(exportSession(h.store, made.sessionId, 'json') ?? [])].join(''))
  return {
    export_ok: () => {
      expect(existsSync(target) && statSync(target).size).toBeGreaterThan(50)
    },
    file_name_safe: () => {
      expect(basename(target)).toBe(name)
      expect(name).toMatch(/^[^/\\:*?"<>|\p{Cc}\p{Cf}]+$/u)
    }
  }
}

async function wrongClock(): Promise<Checks> {
  let ahead = 10 * 60_000
  const home = freshFolder('home')
  const h = openHarness(scripted('repeat\nsay: answer to {{user}}'), { home, now: () => Date.now() + ahead })
  open.push(h)
  const session = h.session()
  await say(session, 'one')
  await say(session, 'two')
  ahead = 0
  await say(session, 'three')
  const path = [...h.store.entries.up(session.info.id, session.snapshot().head)].reverse()
  return {
    order: () => {
      const words = path.flatMap((e) => (e.type === 'message' ? [textOf(e.message)] : []))
      expect(words).toEqual(['one', 'answer to one', 'two', 'answer to two', 'three', 'answer to three'])
      expect(path.at(-1)?.at).toBeLessThan(path[0]?.at ?? 0)
    },
    each_message_gets_an_answer: () => {
      expect(path.filter((e) => e.type === 'message' && e.message.role === 'assistant')).toHaveLength(3)
    }
  }
}
