import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Tool } from '../../../src/main/loop/tool'
import type { ModelEvent, ModelRequest, StreamFn } from '../../../src/main/models/model'
import type { SessionHandle } from '../../../src/main/session/session'
import { textOf } from '../../../src/shared/message'
import { eventsOf, type Harness, openHarness, say, scripted, waitFor } from '../../support/harness'

const open: Harness[] = []
afterEach(async () => {
  for (const h of open.splice(0)) await h.close()
})
function harness(stream: StreamFn, options: Parameters<typeof openHarness>[1] = {}): Harness {
  const made = openHarness(stream, options)
  open.push(made)
  return made
}
const words = (h: Harness, session: SessionHandle): string[] =>
  [...h.store.entries.up(session.info.id, session.snapshot().head)]
    .reverse()
    .flatMap((e) => (e.type === 'message' && e.message.role !== 'tool' ? [`${e.message.role}: ${textOf(e.message)}`] : []))

/** The articles' experiment: six shards of a while each, a model that stops when it is told to. */
function shards(ms: number): { stream: StreamFn; tool: Tool; requests: ModelRequest[]; scanned: () => number } {
  const requests: ModelRequest[] = []
  let scanned = 0
  return {
    requests,
    scanned: () => scanned,
    tool: {
      name: 'scan',
      description: 'scan',
      label: 'readonly',
      replay: 'safe',
      parameters: z.object({}),
      execute: async () => {
        await sleep(ms)
        return { code: 'ok', text: `shard ${String(++scanned)} clean` }
      }
    },
    stream: async function* (request): AsyncGenerator<ModelEvent> {
      requests.push({ ...request, messages: [...request.messages] })
      const told = request.messages.some((m) => m.role === 'user' && textOf(m).includes('Stop, conclude.'))
      yield await Promise.resolve(
        told || scanned === 6 ? { type: 'text', delta: 'Concluded.' } : { type: 'call', name: 'scan', arguments: '{}' }
      )
      yield { type: 'end', stopReason: 'stop', usage: {} }
    }
  }
}

describe('steering', () => {
  it('at the third of six shards ends the run after four rounds instead of seven, and loses no shard', async () => {
    for (const mode of [undefined, 'one-at-a-time', 'all'] as const) {
      const { stream, tool, requests, scanned } = shards(30)
      const session = harness(stream, { tools: [tool] }).session()
      if (mode) session.setQueueModes(mode, undefined)
      const run = say(session, 'Scan.')
      if (mode) {
        await waitFor(session, 'turn_start', 3)
        await session.prompt({ text: 'Stop, conclude.', itemId: 's', kind: 'steer' })
      }
      await run
      expect([requests.length, scanned()]).toEqual(mode ? [4, 3] : [7, 6])
    }
  })

  it('takes a steer before the next request, and leaves a receipt with the turn in the same transaction as the words', async () => {
    const { stream, tool, requests } = shards(40)
    const h = harness(stream, { tools: [tool] })
    const session = h.session()
    const run = say(session, 'Scan.')
    await waitFor(session, 'tool_dispatch')
    await session.prompt({ text: 'Stop, conclude.', itemId: 's', kind: 'steer' })
    await run
    expect(requests).toHaveLength(2)
    const events = eventsOf(h.store, session)
    const taken = events.find((e) => e.type === 'queue' && e.state === 'taken')
    const entry = events.find((e) => e.seq === (taken?.seq ?? 0) + 1)
    expect(taken).toMatchObject({ turn: 2, entryId: entry?.type === 'message_end' ? entry.entry.id : 'none', item: { id: 's' } })
    expect(taken?.at).toBe(entry?.at)
    expect(entry).toMatchObject({ entry: { message: { said: { kind: 'steer', turn: 2 } } } })
  })

  it('takes one steer a round, or all of them at once when the session is set so', async () => {
    for (const [mode, expected] of [
      ['one-at-a-time', ['a', 'b', 'c']],
      ['all', ['a b c']]
    ] as const) {
      const { stream, tool, requests } = shards(20)
      const session = harness(stream, { tools: [tool] }).session()
      session.setQueueModes(mode, undefined)
      const run = say(session, 'Scan.')
      await waitFor(session, 'tool_dispatch')
      for (const text of ['a', 'b', 'c']) void session.prompt({ text, itemId: text, kind: 'steer' })
      await run
      const news = requests.map((r, i) => r.messages.slice(requests[i - 1]?.messages.length ?? 1).filter((m) => m.role === 'user'))
      const heard = news.map((list) =>
        list
          .flatMap((m) => m.parts)
          .map((p) => (p.type === 'text' ? p.text : ''))
          .join(' ')
      )
      expect(heard.filter((t) => t !== '' && t !== 'Scan.')).toEqual(expected)
    }
  })

  it('interrupts when asked to: the present step ends at once, what was finished stays, and the words come next', async () => {
    const { stream, tool, requests } = shards(60_000)
    const h = harness(stream, { tools: [tool] })
    const session = h.session()
    const run = say(session, 'Scan.')
    await waitFor(session, 'tool_dispatch')
    const start = performance.now()
    await session.prompt({ text: 'Stop, conclude.', itemId: 'n', kind: 'interrupt' })
    await run
    expect(performance.now() - start).toBeLessThan(1_000)
    expect(requests).toHaveLength(2)
    expect(session.info.state).toBe('completed')
    expect(requests[1]?.messages.map((m) => m.role)).toEqual(['user', 'assistant', 'tool', 'user'])
    expect(requests[1]?.messages[2]).toMatchObject({ role: 'tool', code: 'aborted' })
  })

  it('interrupts an answer in the middle of a word and keeps the half', async () => {
    const session = harness(scripted('say: Half\nhang\n---\nsay: Whole')).session()
    const run = say(session, 'go')
    await waitFor(session, 'message_update')
    await session.prompt({ text: 'otherwise', itemId: 'n', kind: 'interrupt' })
    await run
    expect(session.snapshot().entries.map((e) => (e.type === 'message' ? textOf(e.message) : ''))).toEqual([
      'go',
      'Half',
      'otherwise',
      'Whole'
    ])
  })
})

describe('the queue', () => {
  it('can be edited, moved, converted and taken back while it waits, and goes in its order', async () => {
    const { stream, tool } = shards(80)
    const h = harness(stream, { tools: [tool] })
    const session = h.session()
    const run = say(session, 'Scan.')
    await waitFor(session, 'tool_dispatch')
    for (const text of ['one', 'two', 'three']) void session.prompt({ text, itemId: text, kind: 'follow-up' })
    await session.edit('one', { text: 'ONE' })
    await session.move('three', 'one')
    await session.withdraw('two')
    expect(session.snapshot().queue.map((i) => i.text)).toEqual(['three', 'ONE'])
    await session.edit('ONE'.toLowerCase(), { text: 'Stop, conclude.', kind: 'steer' })
    expect(await session.edit('two', { text: 'x' })).toMatchObject({ ok: false, code: 'NOT_FOUND' })
    await run
    expect(words(h, session)).toEqual([
      'user: Scan.',
      'assistant: ',
      'user: Stop, conclude.',
      'assistant: Concluded.',
      'user: three',
      'assistant: Concluded.'
    ])
  })

  it('is held when its run is stopped, and goes when the person lets it go', async () => {
    const session = harness(scripted('say: Begun\nhang\n---\nrepeat\nsay: to {{user}}')).session()
    const run = say(session, 'go')
    await waitFor(session, 'message_update')
    void session.prompt({ text: 'first', itemId: '1' })
    await session.prompt({ text: 'second', itemId: '2' })
    session.stop()
    await run
    expect(session.snapshot().queue).toMatchObject([{ held: true }, { held: true }])
    expect(await session.release()).toMatchObject({ ok: true })
    await session.waitForIdle()
    const said = session.snapshot().entries.map((e) => (e.type === 'message' ? textOf(e.message) : ''))
    expect(said).toEqual(['go', 'Begun', 'first', 'to first', 'second', 'to second'])
    expect(session.snapshot().queue).toEqual([])
  })

  it('survives its process, held', async () => {
    const first = harness(scripted('say: Begun\nhang'))
    const session = first.session()
    void session.prompt({ text: 'go', itemId: 'go' })
    await waitFor(session, 'message_update')
    await session.prompt({ text: 'kept', itemId: 'k', kind: 'steer' })
    await first.sessions.close()
    first.store.close()
    open.pop()
    const again = harness(scripted('repeat\nsay: to {{user}}'), { home: first.home, workspace: first.workspace })
    const reopened = again.sessions.get(session.info.id)
    expect(reopened?.snapshot().queue).toMatchObject([{ id: 'k', text: 'kept', held: true }])
  })

  it('keeps words for another branch until the run is over, and says them there', async () => {
    const session = harness(scripted('pause: 60ms\nsay: one\n---\nrepeat\nsay: to {{user}}')).session()
    const run = say(session, 'go')
    await waitFor(session, 'message_start')
    expect(await session.prompt({ text: 'elsewhere', itemId: 'e', parentId: null })).toMatchObject({
      ok: true,
      value: { accepted: 'queued' }
    })
    await run
    await session.waitForIdle()
    const roots = session.tree().filter((n) => n.parentId === null)
    expect(roots.map((n) => n.text)).toEqual(['go', 'elsewhere'])
  })
})
