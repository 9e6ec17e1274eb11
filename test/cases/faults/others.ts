// Faults in which somebody else has the database, or nobody may write it.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect } from 'vitest'
import { migrations } from '../../../src/main/store/open/schema'
import { freshFolder } from '../../support/harness'
import { runCli, startWeb, until } from '../../support/host'
import { beside, type Checks, file, folderWith, type Input, integrity, start, texts, undo } from './setup'

export async function heldByAnother(input: Input): Promise<Checks> {
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

export async function secondStart(input: Input): Promise<Checks> {
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

export async function twoWriters(input: Input): Promise<Checks> {
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
export async function twoMigrations(): Promise<Checks> {
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

export async function readOnly(input: Input): Promise<Checks | undefined> {
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
