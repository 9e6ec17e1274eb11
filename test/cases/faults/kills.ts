// Faults in which a process or the power goes in the middle of storing.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect } from 'vitest'
import { z } from 'zod'
import type { Tool } from '../../../src/main/loop/tool'
import { migrations } from '../../../src/main/store/open/schema'
import { newId } from '../../../src/main/store/id'
import { openStore } from '../../../src/main/store/store'
import { textOf } from '../../../src/shared/message'
import type { Entry } from '../../../src/shared/session'
import { freshFolder, say, waitFor } from '../../support/harness'
import { startWeb, until } from '../../support/host'
import { beside, type Checks, file, folderWith, gone, hasEntries, type Input, integrity, said, start } from './setup'

/** What a kill would leave of a folder at this moment: the system keeps what the process has written. */
function leftBy(home: string): string {
  const left = freshFolder('home')
  for (const end of ['', '-wal']) copyFileSync(`${file(home)}${end}`, `${file(left)}${end}`)
  return left
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

export async function killedBetweenStatements(input: Input): Promise<Checks> {
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

export async function killedWhileStreaming(input: Input): Promise<Checks> {
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

export async function killedInTool(input: Input): Promise<Checks> {
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

export function powerLoss(input: Input): Checks {
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

export async function killedAtFirstStart(): Promise<Checks> {
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
