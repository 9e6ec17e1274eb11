import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Tool, ToolOutput } from '../../../src/main/loop/tool'
import { DEFAULT_BUDGET } from '../../../src/main/policy/budget'
import type { StreamFn } from '../../../src/main/models/model'
import type { SessionHandle } from '../../../src/main/session/session'
import { callsOf, textOf } from '../../../src/shared/message'
import { viewOf } from '../../../src/shared/snapshot'
import { emptyView, fold, type SessionView } from '../../../src/shared/view'
import { toArray } from '../../../src/shared/list'
import { messageEntries } from '../../../src/shared/tree'
import { eventsOf, type Harness, openHarness, say, scripted, waitFor } from '../../support/harness'

const open: Harness[] = []
function harness(script: string | StreamFn, options: Parameters<typeof openHarness>[1] = {}): Harness {
  const made = openHarness(typeof script === 'string' ? scripted(script) : script, options)
  open.push(made)
  return made
}
afterEach(async () => {
  for (const h of open.splice(0)) await h.close()
})
const pathOf = (session: SessionHandle): string[] =>
  messageEntries(toArray(viewOf(session.snapshot()).tree.path)).map(
    ({ message: m }) =>
      `${m.role}: ${textOf(m)}${callsOf(m)
        .map((c) => `→${c.name}`)
        .join('')}`
  )
/** The view of one who watched from the first event. */
const watched = (h: Harness, session: SessionHandle): SessionView => eventsOf(h.store, session).reduce(fold, emptyView(session.info))
/** A view as plain data; maps become lists. */
const plain = (view: SessionView): unknown =>
  JSON.parse(
    JSON.stringify({
      ...view,
      tree: { head: view.tree.head, path: toArray(view.tree.path), entries: toArray(view.tree.entries) },
      tools: [...view.tools]
    })
  )

/** A tool whose result is a new one each time. */
function ticker(): Tool {
  let n = 0
  const execute = (): Promise<ToolOutput> => Promise.resolve({ code: 'ok', text: `tick ${String(++n)}` })
  return { name: 'tick', description: 'ticks', label: 'readonly', replay: 'safe', parameters: z.object({}), execute }
}

const WRITE =
  'say: I write.\ncall: write_file {"path": "a.txt", "content": "new\\n"}\n---\nsay: Done: {{result}}\n--- after denied\nsay: Fine: {{result}}'

describe('a session', () => {
  it('carries a prompt the whole way and remembers it after a restart', async () => {
    const first = harness('say: I look.\ncall: list_dir {}\n---\nsay: I saw {{result}}')
    writeFileSync(join(first.workspace, 'notes.txt'), 'hi')
    const session = first.session()
    await say(session, 'What is here?\nTell me.')
    const path = [
      'user: What is here?\nTell me.',
      'assistant: I look.→list_dir',
      'tool: notes.txt  2 bytes',
      'assistant: I saw notes.txt  2 bytes'
    ]
    expect(pathOf(session)).toEqual(path)
    expect(session.info).toMatchObject({ title: 'What is here?', state: 'completed' })
    await first.sessions.close()
    first.store.close()
    open.pop()
    const again = harness('say: x', { home: first.home, workspace: first.workspace })
    const reopened = again.sessions.get(session.info.id)
    expect(reopened && pathOf(reopened)).toEqual(path)
  })

  it('numbers its events without gaps, and a snapshot at any moment plus the rest is what a watcher saw', async () => {
    const h = harness(WRITE)
    const session = h.session()
    void session.prompt({ text: 'write', itemId: 'one' })
    const { approval } = await waitFor(session, 'approval_request')
    const middle = session.snapshot()
    expect(plain(viewOf(middle))).toEqual(plain(watched(h, session)))
    void session.prompt({ text: 'later', itemId: 'two' })
    expect(plain(viewOf(session.snapshot()))).toEqual(plain(watched(h, session)))
    void session.answer(approval.id, { kind: 'allow', scope: 'once' })
    await session.waitForIdle()
    const events = eventsOf(h.store, session)
    expect(events.map((e) => e.seq)).toEqual(events.map((_, i) => i + 1))
    const late = events.filter((e) => e.seq > middle.seq).reduce(fold, viewOf(middle))
    expect(plain(late)).toEqual(plain(watched(h, session)))
    expect(plain(viewOf(session.snapshot()))).toEqual(plain(watched(h, session)))
  })

  it('takes the same prompt once, however often it is sent', async () => {
    const session = harness('say: hello').session()
    void session.prompt({ text: 'hi', itemId: 'same' })
    expect(await session.prompt({ text: 'hi', itemId: 'same' })).toMatchObject({ ok: true, value: { accepted: 'known' } })
    await session.waitForIdle()
    expect(await session.prompt({ text: 'hi', itemId: 'same' })).toMatchObject({ ok: true, value: { accepted: 'known' } })
    expect(pathOf(session)).toEqual(['user: hi', 'assistant: hello'])
  })

  it('queues what is said during a run, gives it back on request, and takes the rest when the run would end', async () => {
    const h = harness('pause: 80ms\nsay: one\n---\nsay: two\n---\nsay: three')
    const session = h.session()
    void session.prompt({ text: 'first', itemId: '1' })
    for (const n of ['2', '3', '4']) void session.prompt({ text: `say ${n}`, itemId: n })
    expect(await session.withdraw('3')).toEqual({ ok: true, value: { text: 'say 3' } })
    expect(await session.withdraw('3')).toMatchObject({ ok: false, code: 'NOT_FOUND' })
    await session.waitForIdle()
    expect(pathOf(session)).toEqual(['user: first', 'assistant: one', 'user: say 2', 'assistant: two', 'user: say 4', 'assistant: three'])
    expect(session.snapshot().queue).toEqual([])
  })

  it('branches by a prompt at an earlier place, and goes back without losing anything', async () => {
    const session = harness('say: answer to {{user}}\n---\nrepeat\nsay: again {{user}}').session()
    await say(session, 'one')
    const [root] = session.snapshot().entries
    const oldHead = session.snapshot().head
    void session.prompt({ text: 'two', itemId: 'b', parentId: root?.parentId ?? null })
    await session.waitForIdle()
    expect(pathOf(session)).toEqual(['user: two', 'assistant: answer to two'])
    expect(await session.goTo({ entryId: oldHead })).toMatchObject({ ok: true })
    expect(pathOf(session)).toEqual(['user: one', 'assistant: answer to one'])
    expect(session.tree()).toHaveLength(4)
    expect(await session.goTo({ entryId: 'nobody' })).toMatchObject({ ok: false, code: 'NOT_FOUND' })
    expect(await session.prompt({ text: 'x', itemId: 'c', parentId: 'nobody' })).toMatchObject({ ok: false, code: 'NOT_FOUND' })
  })

  it('tries a failed answer again beside the failed one', async () => {
    let n = 0
    const flaky: StreamFn = (request, signal) => scripted(n++ === 0 ? 'say: Half\nfault: busy Later.' : 'say: Whole')(request, signal)
    const session = harness(flaky).session()
    await say(session, 'hi')
    expect(session.info.state).toBe('failed')
    expect(await session.retry()).toMatchObject({ ok: true })
    await session.waitForIdle()
    expect(pathOf(session)).toEqual(['user: hi', 'assistant: Whole'])
    expect(session.tree()).toHaveLength(3)
    expect(await session.retry()).toMatchObject({ ok: false, code: 'CONFLICT' })
  })

  it('stops at once, keeps what was said, and goes on with the next prompt', async () => {
    const session = harness('say: Begun\nhang\n---\nsay: Next').session()
    void session.prompt({ text: 'hi', itemId: 'a' })
    await waitFor(session, 'message_update')
    expect(session.stop()).toBe(true)
    await session.waitForIdle()
    expect(session.info.state).toBe('cancelled')
    expect(session.stop()).toBe(false)
    await say(session, 'go on')
    expect(pathOf(session)).toEqual(['user: hi', 'assistant: Begun', 'user: go on', 'assistant: Next'])
  })

  it('ends a run that goes on for too long, and says which budget it was', async () => {
    const session = harness('repeat\ncall: tick {}', { tools: [ticker()], budget: { ...DEFAULT_BUDGET, turns: 5 } }).session()
    await say(session, 'run away')
    expect(session.snapshot().run).toMatchObject({ state: 'failed', cause: { kind: 'budget', budget: 'turns', limit: 5 }, turn: 5 })
  })

  it('says what is wrong when its model cannot be used, and keeps the words', async () => {
    const h = harness('say: x')
    const session = h.session()
    session.setModel('')
    await say(session, 'hi')
    expect(session.info.model).toBe('scripted:test') // made when there was no model: it takes the default that there is now
    expect(pathOf(session)).toEqual(['user: hi', 'assistant: x'])
  })
})

describe('a disk that is full', () => {
  it('pauses the run, refuses what cannot be kept, and goes on by itself without a word lost when there is room again', async () => {
    let full = false
    const said: string[] = []
    const beforeWrite = (): void => {
      if (full) throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
    }
    const storage = { trouble: () => said.push('trouble'), well: () => said.push('well') }
    const h = harness(`speed: 400\nsay: ${'word '.repeat(100)}end\ncall: tick {}\n---\nsay: Next.`, {
      beforeWrite,
      storage,
      tools: [ticker()]
    })
    const session = h.session()
    await session.prompt({ text: 'go', itemId: 'a' })
    await waitFor(session, 'message_update')
    full = true
    await expect(session.prompt({ text: 'on', itemId: 'b' })).rejects.toThrow('disk is full')
    await new Promise((resolve) => setTimeout(resolve, 800)) // the answer ends meanwhile; nothing of it can be kept
    expect(session.info.state).toBe('running')
    expect(said).toContain('trouble')
    full = false
    await session.waitForIdle()
    expect(said.at(-1)).toBe('well')
    expect(session.info.state).toBe('completed')
    expect(pathOf(session)).toEqual(['user: go', `assistant: ${'word '.repeat(100)}end→tick`, 'tool: tick 1', 'assistant: Next.'])
    expect(plain(viewOf(session.snapshot()))).toEqual(plain(watched(h, session)))
    expect(h.store.runs.open()).toEqual([])
  })

  it('lets a run that waits for room be stopped, and makes up for its end', async () => {
    let full = false
    const beforeWrite = (): void => {
      if (full) throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
    }
    const failures: string[] = []
    const h = harness('say: Half a thought\nhang\n---\nsay: Next.', { beforeWrite, failed: (what) => failures.push(what) })
    const session = h.session()
    await session.prompt({ text: 'go', itemId: 'a' })
    await waitFor(session, 'message_update')
    full = true
    session.stop()
    await session.waitForIdle()
    expect(failures).toEqual(['a run could not be ended'])
    await expect(session.prompt({ text: 'on', itemId: 'b' })).rejects.toThrow('disk is full')
    full = false
    await say(session, 'on')
    expect(pathOf(session)).toEqual(['user: go', 'assistant: Half a thought', 'user: on', 'assistant: Next.'])
    expect(plain(viewOf(session.snapshot()))).toEqual(plain(watched(h, session)))
  })
})

describe('an approval', () => {
  const asked = async (h: Harness): Promise<{ session: SessionHandle; id: string }> => {
    const session = h.session()
    void session.prompt({ text: 'write', itemId: 'w' })
    const { approval } = await waitFor(session, 'approval_request')
    expect(approval.preview).toMatchObject({
      kind: 'file',
      path: join(h.workspace, 'a.txt'),
      change: 'create',
      diff: '@@ -0,0 +1,1 @@\n+new'
    })
    expect(session.info.state).toBe('waiting')
    expect(existsSync(join(h.workspace, 'a.txt'))).toBe(false)
    return { session, id: approval.id }
  }

  it('lets the call run when it is given, once', async () => {
    const h = harness(WRITE)
    const { session, id } = await asked(h)
    expect(await session.answer(id, { kind: 'allow', scope: 'once' })).toMatchObject({ ok: true })
    expect(await session.answer(id, { kind: 'deny', reason: '' })).toMatchObject({ ok: false, code: 'CONFLICT' })
    await session.waitForIdle()
    expect(readFileSync(join(h.workspace, 'a.txt'), 'utf8')).toBe('new\n')
    expect(pathOf(session).at(-1)).toBe('assistant: Done: Created a.txt (4 bytes).')
  })

  it('that is denied stops the call, and the model reads why', async () => {
    const h = harness(WRITE)
    const { session, id } = await asked(h)
    void session.answer(id, { kind: 'deny', reason: 'Use b.txt.' })
    await session.waitForIdle()
    expect(existsSync(join(h.workspace, 'a.txt'))).toBe(false)
    expect(pathOf(session).at(-1)).toBe('assistant: Fine: The person did not allow this: Use b.txt. Nothing ran.')
  })

  it('for the session is not asked again in it, but in another one', async () => {
    const h = harness(`${WRITE}\n---\ncall: write_file {"path": "b.txt", "content": "b"}\n---\nsay: Both.`)
    const { session, id } = await asked(h)
    void session.answer(id, { kind: 'allow', scope: 'session', rule: { verdict: 'allow', tool: 'write_file', path: '*.txt' } })
    await session.waitForIdle()
    await say(session, 'more')
    expect(existsSync(join(h.workspace, 'b.txt'))).toBe(true)
    const other = h.session()
    void other.prompt({ text: 'write', itemId: 'o' })
    await waitFor(other, 'approval_request')
  })

  it('counts for what was shown: a file that changed meanwhile is not overwritten', async () => {
    const h = harness(WRITE)
    const { session, id } = await asked(h)
    writeFileSync(join(h.workspace, 'a.txt'), 'theirs')
    void session.answer(id, { kind: 'allow', scope: 'once' })
    await session.waitForIdle()
    expect(readFileSync(join(h.workspace, 'a.txt'), 'utf8')).toBe('theirs')
    expect(pathOf(session)[2]).toContain('changed after the person was shown')
  })

  it('expires when the run is stopped', async () => {
    const h = harness(WRITE)
    const { session, id } = await asked(h)
    session.stop()
    await session.waitForIdle()
    expect(session.snapshot().approvals).toEqual([])
    expect(await session.answer(id, { kind: 'allow', scope: 'once' })).toMatchObject({ ok: false, code: 'CONFLICT' })
    expect(existsSync(join(h.workspace, 'a.txt'))).toBe(false)
  })
})
