// Six shards of 150 ms, 25 ms to the provider, a word of steering in the middle of the third shard: how long after the end of that shard does the
// request that carries it leave? And how many requests are made in all (seven without steering).
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Tool } from '../../src/main/loop/tool'
import type { ModelEvent, StreamFn } from '../../src/main/models/model'
import { textOf } from '../../src/shared/message'
import { openHarness, say } from '../../test/support/harness'
import { compare, type Figure, loadPeer, median, type Row } from '../row'

interface Steered {
  readonly requests: number
  /** Milliseconds from the end of the shard to the request. */
  readonly overToolMs: number
}
interface Peer {
  steer(): Promise<Steered>
}
const RUNS = 5

export const steer: Row = {
  name: 'steer',
  async run(): Promise<Figure[]> {
    const pi = await loadPeer<Peer>('pi/steer.mjs')
    const ours: Steered[] = []
    const theirs: Steered[] = []
    for (let run = 0; run < RUNS; run++) {
      ours.push(await steered())
      if (pi) theirs.push(await pi.steer())
    }
    const middle = (of: readonly Steered[], key: keyof Steered): number | null => (of.length > 0 ? median(of.map((s) => s[key])) : null)
    return [
      compare('steer.over_tool_ms', 'ms', middle(ours, 'overToolMs') ?? 0, middle(theirs, 'overToolMs')),
      compare('steer.requests', 'count', middle(ours, 'requests') ?? 0, middle(theirs, 'requests'))
    ]
  }
}

async function steered(): Promise<Steered> {
  let requests = 0
  let shards = 0
  let shardEnded = 0
  let overToolMs = NaN
  const stream: StreamFn = async function* ({ messages }): AsyncGenerator<ModelEvent> {
    requests++
    const told = messages.some((m) => m.role === 'user' && textOf(m) === 'Stop, conclude.')
    if (told && Number.isNaN(overToolMs)) overToolMs = performance.now() - shardEnded
    await sleep(25)
    if (told || shards === 6) yield { type: 'text', delta: 'Concluded.' }
    else yield { type: 'call', name: 'scan', arguments: '{}' }
    yield { type: 'end', stopReason: told || shards === 6 ? 'stop' : 'calls', usage: {} }
  }
  const scan: Tool = {
    name: 'scan',
    description: 'scan',
    label: 'readonly',
    replay: 'safe',
    parameters: z.object({}),
    execute: async () => {
      if (shards === 2) setTimeout(() => void session.prompt({ text: 'Stop, conclude.', itemId: 'steer', kind: 'steer' }), 75)
      await sleep(150)
      shards++
      shardEnded = performance.now()
      return { code: 'ok', text: `shard ${String(shards)} clean` }
    }
  }
  const core = openHarness(stream, { tools: [scan] })
  const session = core.session()
  await say(session, 'Scan.')
  await core.close()
  return { requests, overToolMs }
}
