import { cpSync, existsSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Tool } from '../../../src/main/loop/tool'
import type { ModelEvent, StreamFn } from '../../../src/main/models/model'
import { DEFAULT_BUDGET } from '../../../src/main/policy/budget'
import type { SessionHandle } from '../../../src/main/session/session'
import { textOf } from '../../../src/shared/message'
import { emptyView, fold, plainView } from '../../../src/shared/view'
import { eventsOf, type Harness, openHarness, say, scripted, waitFor } from '../../support/harness'
import { until } from '../../support/host'

const open: Harness[] = []
afterEach(async () => {
  for (const h of open.splice(0)) await h.close()
})
function harness(stream: StreamFn, options: Parameters<typeof openHarness>[1] = {}): Harness {
  const made = openHarness(stream, options)
  open.push(made)
  return made
}
/** The same folder as the next start has it. */
async function restart(h: Harness, stream: StreamFn, options: Parameters<typeof openHarness>[1] = {}): Promise<Harness> {
  await h.sessions.close()
  h.store.close()
  open.splice(open.indexOf(h), 1)
  return harness(stream, { home: h.home, workspace: h.workspace, ...options })
}
const handle = (h: Harness, session: SessionHandle): SessionHandle => {
  const found = h.sessions.get(session.info.id)
  if (!found) throw new Error('the session is gone')
  return found
}
const texts = (session: SessionHandle): string[] =>
  session.snapshot().entries.map((e) => (e.type === 'message' ? textOf(e.message) : e.type))
const states = (h: Harness, session: SessionHandle): string[] =>
  eventsOf(h.store, session).flatMap((e) =>
    e.type === 'agent_start' ? ['ready'] : e.type === 'state' || e.type === 'agent_end' ? [e.state] : []
  )
const usage = { type: 'end', stopReason: 'stop', usage: {} } as const
const RETRY = { attempts: 4, baseMs: 2, capMs: 10, longestMs: 200 }

describe('a request that fails before its first word', () => {
  /** Fails `times` times with what `fault` says, then answers. */
  function flaky(
    times: number,
    fault: { retryable: boolean; retryAfterMs?: number },
    before: ModelEvent[] = []
  ): { stream: StreamFn; asked: number[] } {
    const asked: number[] = []
    return {
      asked,
      stream: async function* (): AsyncGenerator<ModelEvent> {
        asked.push(performance.now())
        if (asked.length > times) {
          yield { type: 'text', delta: 'Here.' }
          yield usage
          return
        }
        for (const event of before) yield event
        yield await Promise.resolve({ type: 'error', error: { code: 'overloaded', message: 'Too much.', ...fault } })
      }
    }
  }

  it('is made again, with every step stored and told', async () => {
    const { stream, asked } = flaky(2, { retryable: true })
    const h = harness(stream, { retry: RETRY })
    const session = h.session()
    await say(session, 'go')
    expect(asked).toHaveLength(3)
    expect(texts(session)).toEqual(['go', 'Here.'])
    expect(states(h, session)).toEqual(['ready', 'running', 'needs-retry', 'running', 'needs-retry', 'running', 'completed'])
    const retries = eventsOf(h.store, session).filter((e) => e.type === 'retry')
    expect(retries).toMatchObject([
      { attempt: 2, attempts: 4, error: { code: 'overloaded' } },
      { attempt: 3, attempts: 4 }
    ])
  })

  it('waits as long as the server asked, and not at all when that is too long', async () => {
    const patient = flaky(1, { retryable: true, retryAfterMs: 120 })
    await say(harness(patient.stream, { retry: RETRY }).session(), 'go')
    expect((patient.asked[1] ?? 0) - (patient.asked[0] ?? 0)).toBeGreaterThanOrEqual(115)
    const long = flaky(1, { retryable: true, retryAfterMs: 10_000 })
    const session = harness(long.stream, { retry: RETRY }).session()
    await say(session, 'go')
    expect([long.asked.length, session.info.state]).toEqual([1, 'failed'])
  })

  it('is not made again when something was shown, when it cannot help, or when it failed too often', async () => {
    for (const { stream, asked } of [flaky(9, { retryable: true }, [{ type: 'text', delta: 'Ha' }]), flaky(9, { retryable: false })]) {
      await say(harness(stream, { retry: RETRY }).session(), 'go')
      expect(asked).toHaveLength(1)
    }
    const { stream, asked } = flaky(9, { retryable: true })
    const session = harness(stream, { retry: RETRY }).session()
    await say(session, 'go')
    expect([asked.length, session.info.state]).toEqual([4, 'failed'])
  })

  it('is not made again after a stop', async () => {
    const { stream, asked } = flaky(9, { retryable: true, retryAfterMs: 150 })
    const session = harness(stream, { retry: RETRY }).session()
    const run = say(session, 'go')
    await waitFor(session, 'retry')
    session.stop()
    await run
    await sleep(200)
    expect([asked.length, session.info.state]).toEqual([1, 'cancelled'])
  })
})

describe('a budget', () => {
  const tick: Tool = {
    name: 'tick',
    description: 'ticks',
    label: 'readonly',
    replay: 'safe',
    parameters: z.object({ n: z.int() }),
    execute: (args) => Promise.resolve({ code: 'ok', text: JSON.stringify(args) })
  }
  const busy = (cost = 0): StreamFn => {
    let n = 0
    return async function* (): AsyncGenerator<ModelEvent> {
      yield await Promise.resolve({ type: 'call', name: 'tick', arguments: `{"n":${String(++n)}}` })
      yield { type: 'end', stopReason: 'calls', usage: { inputTokens: 900, outputTokens: 100, cost } }
    }
  }
  it.each([
    ['turns', { turns: 3 }, 3],
    ['calls', { calls: 3 }, 4],
    ['tokens', { tokens: 2_500 }, 3],
    ['money', { cost: 0.25 }, 3]
  ] as const)('of %s ends the run with its name, and the person lets it go on', async (name, limit, turns) => {
    const h = harness(busy(0.1), { tools: [tick], budget: { ...DEFAULT_BUDGET, ...limit } })
    const session = h.session()
    await say(session, 'go')
    expect(session.snapshot().run).toMatchObject({ state: 'failed', cause: { kind: 'budget', budget: name }, turn: turns })
    expect(eventsOf(h.store, session).filter((e) => e.type === 'budget')).toMatchObject([{ budget: name }])
    expect(await session.retry({ turns: 2, calls: 50, tokens: 1e6, cost: 5 })).toMatchObject({ ok: true })
    await session.waitForIdle()
    expect(session.snapshot().run).toMatchObject({ cause: { kind: 'budget', budget: 'turns', limit: 2 } })
  })

  it('that is met in the middle of a message blocks the call and says so to the model', async () => {
    const h = harness(scripted('call: tick {"n":1}\ncall: tick {"n":2}\ncall: tick {"n":3}'), {
      tools: [tick],
      budget: { ...DEFAULT_BUDGET, calls: 2 }
    })
    const session = h.session()
    await say(session, 'go')
    const results = session.snapshot().entries.flatMap((e) => (e.type === 'message' && e.message.role === 'tool' ? [e.message.code] : []))
    expect(results).toEqual(['ok', 'ok', 'over_budget'])
  })
})

describe('an approval that waits', () => {
  const WRITE = 'call: write_file {"path": "a.txt", "content": "new"}\n---\nsay: {{result}}\n--- after denied\nsay: Denied: {{result}}'
  async function asked(): Promise<{ h: Harness; session: SessionHandle; approvalId: string }> {
    const h = harness(scripted(WRITE))
    const session = h.session()
    void session.prompt({ text: 'write', itemId: 'w' })
    const { approval } = await waitFor(session, 'approval_request')
    return { h, session, approvalId: approval.id }
  }

  it.each([
    ['allowed', { kind: 'allow', scope: 'once' } as const, true, 'Created a.txt (3 bytes).'],
    ['denied', { kind: 'deny', reason: 'No.' } as const, false, 'Denied: The person did not allow this: No. Nothing ran.']
  ])('is %s after a restart, and the run goes on where it was', async (_how, answer, written, last) => {
    const { h, session, approvalId } = await asked()
    const again = await restart(h, scripted(WRITE))
    const reopened = handle(again, session)
    expect(reopened.snapshot()).toMatchObject({ session: { state: 'waiting' }, approvals: [{ id: approvalId }], run: { state: 'waiting' } })
    expect(existsSync(join(h.workspace, 'a.txt'))).toBe(false)
    expect(await reopened.answer(approvalId, answer)).toMatchObject({ ok: true })
    await reopened.waitForIdle()
    expect(existsSync(join(h.workspace, 'a.txt'))).toBe(written)
    expect(texts(reopened).at(-1)).toBe(last)
    expect(reopened.info.state).toBe('completed')
    expect(reopened.runs()).toHaveLength(1)
    const log = eventsOf(again.store, reopened)
    expect(log.map((e) => e.seq)).toEqual(log.map((_, i) => i + 1))
  })

  it('can be stopped after a restart: nothing ran, and the next prompt works', async () => {
    const { h, session, approvalId } = await asked()
    const again = await restart(h, scripted(WRITE))
    const reopened = handle(again, session)
    expect(reopened.stop()).toBe(true)
    expect(reopened.info.state).toBe('cancelled')
    expect(await reopened.answer(approvalId, { kind: 'allow', scope: 'once' })).toMatchObject({ ok: false, code: 'CONFLICT' })
    await say(reopened, 'again')
    expect(existsSync(join(h.workspace, 'a.txt'))).toBe(false)
    expect(texts(reopened).at(-1)).toContain('Nothing ran.')
  })

  it('is one question however often Tau is started', async () => {
    const { h, session, approvalId } = await asked()
    let last = h
    for (let i = 0; i < 3; i++) last = await restart(last, scripted(WRITE))
    expect(
      handle(last, session)
        .snapshot()
        .approvals.map((a) => a.id)
    ).toEqual([approvalId])
  })
})

/** What a kill leaves of a folder at this moment: the system keeps what the process has written. */
function leftBy(home: string): string {
  const left = mkdtempSync(`${home}-left`)
  for (const end of ['', '-wal']) cpSync(join(home, `tau.db${end}`), join(left, `tau.db${end}`))
  return left
}

describe('a call that was cut off by the end of its process', () => {
  it('is asked about again though it was allowed before, also when its run waits for another answer', async () => {
    const ran: string[] = []
    const pay: Tool = {
      name: 'pay',
      description: 'pays',
      label: 'write',
      replay: 'never',
      parameters: z.object({ n: z.int() }),
      execute: (args) => {
        ran.push(JSON.stringify(args))
        return ran.length === 1 ? new Promise(() => undefined) : Promise.resolve({ code: 'ok', text: 'paid' })
      }
    }
    const script = 'call: pay {"n":1}\ncall: pay {"n":2}\n---\nsay: Done.'
    const h = harness(scripted(script), { tools: [pay] })
    const session = h.session()
    void session.prompt({ text: 'go', itemId: 'g' })
    const { approval: first } = await waitFor(session, 'approval_request')
    const { approval: second } = await waitFor(session, 'approval_request', 2)
    await session.answer(first.id, { kind: 'allow', scope: 'once' })
    await until('the effect', () => ran.length === 1)
    const again = harness(scripted(script), { home: leftBy(h.home), workspace: h.workspace, tools: [pay] })
    const reopened = handle(again, session)
    expect(reopened.snapshot().approvals.map((a) => a.id)).toEqual([second.id])
    await reopened.answer(second.id, { kind: 'allow', scope: 'once' })
    const { approval: third } = await waitFor(reopened, 'approval_request', 3)
    expect(third).toMatchObject({ callId: first.callId, again: true })
    expect(ran.filter((n) => n === '{"n":1}')).toHaveLength(1)
    await reopened.answer(third.id, { kind: 'deny', reason: 'It was paid.' })
    await reopened.waitForIdle()
    expect(ran).toEqual(['{"n":1}', '{"n":2}'])
    expect(reopened.info.state).toBe('completed')
  })

  it('runs again by itself when it may, and asks first when it must not happen twice', async () => {
    const ran: string[] = []
    let hangs = true
    const tool = (name: string, replay: 'safe' | 'never'): Tool => ({
      name,
      description: name,
      label: 'readonly',
      replay,
      parameters: z.object({}),
      execute: () => {
        ran.push(name)
        return hangs ? new Promise(() => undefined) : Promise.resolve({ code: 'ok', text: `${name} done` })
      }
    })
    const tools = [tool('look', 'safe'), tool('pay', 'never')]
    const script = 'call: look {}\ncall: pay {}\n---\nsay: Done.'
    const h = harness(scripted(script), { tools })
    const session = h.session()
    void session.prompt({ text: 'go', itemId: 'g' })
    await until('both to run', () => ran.length === 2)
    hangs = false
    const again = harness(scripted(script), { home: leftBy(h.home), workspace: h.workspace, tools })
    const reopened = handle(again, session)
    expect(reopened.info.state).toBe('interrupted')
    expect(await reopened.retry()).toMatchObject({ ok: true })
    const { approval } = await waitFor(reopened, 'approval_request')
    expect(approval).toMatchObject({ tool: 'pay', again: true })
    await reopened.answer(approval.id, { kind: 'deny', reason: 'I looked: it was paid.' })
    await reopened.waitForIdle()
    expect(ran).toEqual(['look', 'pay', 'look'])
    expect(texts(reopened)).toEqual(['go', '', 'look done', 'The person did not allow this: I looked: it was paid. Nothing ran.', 'Done.'])
    expect(reopened.tree().filter((n) => n.kind === 'tool')).toHaveLength(4) // what recovery filled in stays, beside
  })
})

describe('a run that is over', () => {
  it('folds from its stored events to the view that was seen live, byte for byte', async () => {
    const h = harness(scripted('think: Hm.\nsay: I look.\ncall: list_dir {}\n---\nsay: {{result}}'))
    const session = h.session()
    const live: string[] = []
    const base = session.info
    let view = emptyView(base)
    const watched = (async () => {
      for await (const event of session.watch(0, new AbortController().signal)) {
        view = fold(view, event)
        live.push(JSON.stringify(plainView(view)))
        if (event.type === 'agent_end') return
      }
    })()
    await say(session, 'look')
    await watched
    let again = emptyView(base)
    const replayed = eventsOf(h.store, session).map((event) => JSON.stringify(plainView((again = fold(again, event)))))
    expect(replayed.length).toBeGreaterThan(10)
    expect(replayed).toEqual(live)
    const [run] = session.runs()
    const replay = session.replay(run?.run.id ?? '')
    expect(replay.ok && [...replay.value].map((e) => e.seq)).toEqual(
      eventsOf(h.store, session)
        .filter((e) => e.runId === run?.run.id)
        .map((e) => e.seq)
    )
  })
})
