// The process that is killed: sessions on a real data folder, a model that does anything, and a person who does everything at once. Prints what was
// acknowledged and what was shown, a line of JSON each, so that whoever killed it knows what must be there afterwards.
import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Tool } from '../src/main/loop/tool'
import type { ModelEvent, StreamFn } from '../src/main/models/model'
import type { SessionHandle } from '../src/main/session/session'
import { openHarness } from '../test/support/harness'
import { random } from './random'

const [home = '', workspace = '', effects = '', seed = '1'] = process.argv.slice(2)
const { chance, pick, upTo } = random(Number(seed))
const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`)

/** Each call of this folder has a number of its own, by which its effect is known. */
let calls = 0
const stream: StreamFn = async function* (_request, signal): AsyncGenerator<ModelEvent> {
  for (let i = upTo(30); i >= 0; i--) {
    if (signal.aborted) return
    yield { type: chance(0.2) ? 'thinking' : 'text', delta: `word${String(i)} ` }
    if (chance(0.3)) await sleep(upTo(8))
  }
  if (chance(0.1)) {
    yield { type: 'error', error: { code: 'unreachable', message: 'The server went away.', retryable: chance(0.5) } }
    return
  }
  const wanted = chance(0.6) ? 1 + upTo(2) : 0
  for (let i = 0; i < wanted; i++)
    yield { type: 'call', name: pick(['look', 'pay', 'slow', 'nobody']), arguments: `{"n":${String(Number(seed) * 10_000 + ++calls)}}` }
  yield { type: 'end', stopReason: wanted > 0 ? 'calls' : 'stop', usage: { inputTokens: 10, outputTokens: 5 } }
}

const parameters = z.object({ n: z.int() })
const tools: Tool<{ n: number }>[] = [
  {
    name: 'look',
    description: 'reads',
    label: 'readonly',
    replay: 'safe',
    parameters,
    execute: async ({ n }, { progress }) => {
      progress({ done: 1, total: 2 })
      await sleep(upTo(10))
      return { code: 'ok', text: `saw ${String(n)}` }
    }
  },
  {
    name: 'slow',
    description: 'reads slowly and listens to nobody',
    label: 'readonly',
    replay: 'safe',
    parameters,
    execute: async () => {
      await sleep(upTo(400))
      return { code: 'ok', text: 'at last' }
    }
  },
  {
    name: 'pay',
    description: 'must not happen twice',
    label: 'write',
    replay: 'never',
    parameters,
    execute: async ({ n }) => {
      appendFileSync(effects, `${String(n)}\n`) // the effect
      await sleep(upTo(20))
      return { code: 'ok', text: `paid ${String(n)}` }
    }
  }
]

const h = openHarness(stream, { home, workspace, tools: tools, retry: { attempts: 3, baseMs: 5, capMs: 20, longestMs: 100 } })
const known = h.sessions.list('open').slice(0, 3)
while (known.length < 3) known.push(h.session().info)
const sessions = known.map((s) => h.sessions.get(s.id)).filter((s) => s !== undefined)
for (const session of sessions) void watch(session)
say({ ready: true })
for (;;) {
  await act(pick(sessions))
  await sleep(upTo(12))
}

async function watch(session: SessionHandle): Promise<void> {
  const { seq } = session.snapshot()
  for await (const event of session.watch(seq, new AbortController().signal)) say({ shown: event })
}

/** One thing that a person may do, whether it makes sense now or not. */
async function act(session: SessionHandle): Promise<void> {
  const { approvals, queue, sides } = session.snapshot()
  const nodes = session.tree()
  const itemId = `i${String(process.pid)}-${String(Math.random())}`
  const text = `say ${itemId}`
  const sessionId = session.info.id
  switch (upTo(14)) {
    case 0:
    case 1:
    case 2: {
      const parentId = chance(0.15) && nodes.length > 0 ? pick(nodes).id : undefined
      const kind = pick(['steer', 'follow-up', 'interrupt'] as const)
      const outcome = await session.prompt({ text, itemId, kind, ...(parentId !== undefined && { parentId }) })
      if (outcome.ok) say({ accepted: { sessionId, itemId, text } })
      return
    }
    case 3:
    case 4:
    case 5: {
      const approval = approvals[0]
      if (!approval || chance(0.3)) return
      const answer = chance(0.7) ? ({ kind: 'allow', scope: 'once' } as const) : ({ kind: 'deny', reason: 'no' } as const)
      const outcome = await session.answer(approval.id, answer)
      if (outcome.ok) say({ answered: { sessionId, approvalId: approval.id } })
      return
    }
    case 6:
      if (chance(0.3)) session.stop()
      return
    case 7:
      if (queue[0]) await session.edit(queue[0].id, { text: `${queue[0].text}!`, kind: pick(['steer', 'follow-up'] as const) })
      return
    case 8:
      if (queue[0]) await session.move(queue[0].id, queue[1]?.id ?? null)
      return
    case 9:
      if (queue[0] && chance(0.3)) await session.withdraw(queue[0].id)
      else await session.release()
      return
    case 10:
      if (nodes.length > 0 && chance(0.4)) await session.goTo({ entryId: pick(nodes).id, leaf: chance(0.5) })
      return
    case 11:
      await session.retry()
      return
    case 12:
      if (nodes.length > 0) session.label(pick(nodes).id, chance(0.8) ? 'here' : '')
      return
    case 13:
      if (sides[0]) await session.endSide(sides[0].id, pick(['discard', 'keep', 'insert'] as const))
      else session.beginSide(undefined, 'aside')
      return
    default:
      session.setQueueModes(pick(['one-at-a-time', 'all'] as const), undefined)
  }
}
