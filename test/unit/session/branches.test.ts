import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { StreamFn } from '../../../src/main/models/model'
import type { SessionHandle } from '../../../src/main/session/session'
import { textOf } from '../../../src/shared/message'
import type { Session } from '../../../src/shared/session'
import { eventsOf, type Harness, openHarness, say, scripted, waitFor } from '../../support/harness'

const open: Harness[] = []
function harness(stream: StreamFn | string): Harness {
  const made = openHarness(typeof stream === 'string' ? scripted(stream) : stream)
  open.push(made)
  return made
}
afterEach(async () => {
  for (const h of open.splice(0)) await h.close()
})
const path = (session: SessionHandle): string[] =>
  session
    .snapshot()
    .entries.map((e) => (e.type === 'message' ? textOf(e.message) : e.type === 'branch_summary' ? `summary: ${e.summary}` : e.type))
const ok = <T>(outcome: { ok: true; value: T } | { ok: false; message: string }): T => {
  if (!outcome.ok) throw new Error(outcome.message)
  return outcome.value
}
const ECHO = 'repeat\nsay: to {{user}}\n=== when sum it up\nrepeat\nsay: ## Goal\n  Counting.'

describe('a branch', () => {
  it('may be left with a summary of it, which says where it came from and which files it read and changed', async () => {
    const h = harness(
      'call: list_dir {"path": "."}\ncall: read_file {"path": "a.txt"}\n---\nrepeat\nsay: Looked.\n=== when sum it up\nrepeat\nsay: ## Goal\n  Looking.'
    )
    writeFileSync(join(h.workspace, 'a.txt'), 'hi')
    const session = h.session()
    await say(session, 'one')
    const left = session.snapshot().head
    const [first] = session.snapshot().entries
    await say(session, 'two')
    const newest = session.snapshot().head
    const { head } = ok(await session.goTo({ entryId: first?.id ?? null, summary: true }))
    const [entry] = [...h.store.entries.up(session.info.id, head)]
    expect(entry).toMatchObject({
      type: 'branch_summary',
      summary: '## Goal\nLooking.',
      from: newest,
      parentId: first?.id,
      files: { read: ['.', 'a.txt'], changed: [] }
    })
    expect(path(session)).toEqual(['one', 'summary: ## Goal\nLooking.'])
    expect(session.tree().map((n) => n.id)).toContain(left)
  })

  it('stays where it is when the model cannot sum it up', async () => {
    for (const bad of ['fault: overloaded Too much.', 'say: Half\ncut', 'think: Hm.']) {
      const session = harness(`repeat\nsay: fine\n=== when sum it up\nrepeat\n${bad}`).session()
      await say(session, 'one')
      const { head, entries } = session.snapshot()
      expect(await session.goTo({ entryId: entries[0]?.id ?? null, summary: true })).toMatchObject({ ok: false, code: 'MODEL_FAILED' })
      expect(session.snapshot().head).toBe(head)
    }
  })

  it('is found again at its newest end', async () => {
    const session = harness(ECHO).session()
    await say(session, 'one')
    await say(session, 'two')
    const { head, entries } = session.snapshot()
    await session.prompt({ text: 'other', itemId: 'o', parentId: null })
    await session.waitForIdle()
    expect(ok(await session.goTo({ entryId: entries[0]?.id ?? null, leaf: true })).head).toBe(head)
  })
})

describe('a side branch', () => {
  async function aside(ending: 'discard' | 'keep' | 'summary' | 'insert', more = false): Promise<{ session: SessionHandle; h: Harness }> {
    const h = harness(ECHO)
    const session = h.session()
    await say(session, 'main')
    if (more) await say(session, 'main two')
    const from = session.snapshot().entries[1]?.id
    const side = ok(session.beginSide(from, 'try'))
    expect(session.snapshot().sides).toEqual([side])
    await say(session, 'side')
    ok(await session.endSide(side.id, ending))
    expect(session.snapshot().sides).toEqual([])
    expect(await session.endSide(side.id, ending)).toMatchObject({ ok: false, code: 'NOT_FOUND' })
    return { session, h }
  }
  const MAIN = ['main', 'to main', 'main two', 'to main two']

  it.each(['discard', 'keep'] as const)('that ends with %s returns to where it began, and nothing is deleted', async (ending) => {
    const { session, h } = await aside(ending, true)
    expect(path(session)).toEqual(MAIN)
    expect(session.tree().map((n) => n.text)).toContain('side')
    expect(eventsOf(h.store, session).findLast((e) => e.type === 'side')).toMatchObject({ ending })
  })

  it('may bring a summary home', async () => {
    const { session } = await aside('summary', true)
    expect(path(session)).toEqual([...MAIN, 'summary: ## Goal\nCounting.'])
  })

  it('may be brought home whole: in its place where it grew from the head, as a copy elsewhere', async () => {
    expect(path((await aside('insert')).session)).toEqual(['main', 'to main', 'side', 'to side'])
    const { session } = await aside('insert', true)
    expect(path(session)).toEqual([...MAIN, 'side', 'to side'])
    expect(session.tree().filter((n) => n.text === 'side')).toHaveLength(2)
  })
})

describe('names on nodes', () => {
  it('are set, changed and taken away, and stay over a restart', async () => {
    const h = harness(ECHO)
    const session = h.session()
    await say(session, 'one')
    const id = session.snapshot().head ?? ''
    for (const name of ['first', 'answer']) ok(session.label(id, name))
    expect(h.reopen(session).snapshot().labels).toEqual({ [id]: 'answer' })
    ok(session.label(id, ''))
    expect(session.snapshot().labels).toEqual({})
    expect(session.label('nobody', 'x')).toMatchObject({ ok: false, code: 'NOT_FOUND' })
  })
})

describe('a fork', () => {
  it('is a session of its own with the path, or with the branches that leave it', async () => {
    const h = harness(ECHO)
    const session = h.session()
    await say(session, 'one')
    await say(session, 'two')
    const { entries } = session.snapshot()
    await session.prompt({ text: 'instead of two', itemId: 'b', parentId: entries[1]?.id ?? null })
    await session.waitForIdle()
    session.label(entries[0]?.id ?? '', 'begin')
    const at = entries[3]?.id ?? ''
    const alone = h.sessions.get(ok(h.sessions.fork(session.info.id, at, false)).id)
    const whole = h.sessions.get(ok(h.sessions.fork(session.info.id, at, true)).id)
    expect(alone && path(alone)).toEqual(['one', 'to one', 'two', 'to two'])
    expect(alone?.tree()).toHaveLength(4)
    expect(whole?.tree().map((n) => n.text)).toEqual(['one', 'to one', 'two', 'to two', 'instead of two', 'to instead of two'])
    expect(whole?.snapshot().head).toBe(whole?.tree()[3]?.id)
    expect(Object.values(whole?.snapshot().labels ?? {})).toEqual(['begin'])
    if (alone) await say(alone, 'three')
    expect(session.tree(), 'what was forked stays as it was').toHaveLength(6)
    expect(h.sessions.fork(session.info.id, 'nobody', false)).toMatchObject({ ok: false, code: 'NOT_FOUND' })
  })
})

describe('the bin', () => {
  it('holds a session until it is taken out, or deleted for good with all it held', async () => {
    const h = harness(ECHO)
    const session = h.session()
    await say(session, 'one')
    session.label(session.snapshot().head ?? '', 'x')
    const { id } = session.info
    expect(await h.sessions.purge(id)).toMatchObject({ ok: false, code: 'CONFLICT' })
    session.bin(true)
    const titles = (list: Session[]): string[] => list.map((s) => s.title)
    expect([titles(h.sessions.list('open')), titles(h.sessions.list('binned'))]).toEqual([[], ['one']])
    expect(await session.prompt({ text: 'more', itemId: 'm' })).toMatchObject({ ok: false, code: 'CONFLICT' })
    session.bin(false)
    await say(session, 'two')
    session.bin(true)
    expect(ok(await h.sessions.purge(id))).toEqual({ purged: true })
    expect(h.sessions.get(id)).toBeUndefined()
    expect([h.store.entries.count(id), h.store.events.lastSeq(id)]).toEqual([0, 0])
  })

  it('stops what runs in a session', async () => {
    const h = harness('say: Begun\nhang')
    const session = h.session()
    void session.prompt({ text: 'go', itemId: 'g' })
    await waitFor(session, 'message_update')
    session.bin(true)
    expect(ok(await h.sessions.purge(session.info.id)), 'waits for the end of what it stops').toEqual({ purged: true })
    expect(session.info.state).toBe('cancelled')
    expect(h.store.runs.open()).toEqual([])
  })
})

describe('a long session', () => {
  it('is opened by its newest part, and looked back on part by part', async () => {
    const h = harness(ECHO)
    const session = h.session()
    h.store.write(() => {
      let parentId: string | null = null
      for (let n = 0; n < 1_000; n++) {
        const id = `e${String(n).padStart(4, '0')}`
        h.store.entries.add({
          id,
          sessionId: session.info.id,
          parentId,
          at: n,
          type: 'message',
          message: { role: 'user', parts: [{ type: 'text', text: id }] }
        })
        parentId = id
      }
    })
    const reopened = h.reopen(session)
    const { entries, more } = reopened.snapshot()
    expect([entries.length, more, entries.at(-1)?.id]).toEqual([400, true, 'e0999'])
    const older = ok(reopened.older(entries[0]?.id ?? '', 1_000))
    expect([older.entries.length, older.more, older.entries[0]?.id, older.entries.at(-1)?.id]).toEqual([600, false, 'e0000', 'e0599'])
    await say(reopened, 'still works')
    expect(path(reopened).at(-1)).toContain('still works')
  })
})
