// Six shards of 150 ms, 25 ms to the provider, a word of steering in the middle of the third shard: how long after the end of that shard does the
// request that carries it leave? And how many requests are made in all (seven without steering)? Pi: its agent, nothing stored.
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { answering, holds, openCore, say, steerWith, tool } from '../core'
import { compare, inTurns, loadPeer, median, medianOrNull, type Row } from '../row'

interface Steered {
  readonly requests: number
  /** Milliseconds from the end of the shard to the request. */
  readonly overToolMs: number
}
interface Peer {
  steer(words: string): Promise<Steered>
}
const RUNS = 7
const WORDS = 'Stop, conclude.'

export const steer: Row = {
  name: 'steer',
  async run() {
    const pi = await loadPeer<Peer>('pi/steer.mjs')
    const { ours, theirs } = await inTurns(RUNS, steered, pi && (() => pi.steer(WORDS)))
    const over = (of: readonly Steered[]): number[] => of.map((s) => s.overToolMs)
    const requests = (of: readonly Steered[]): number[] => of.map((s) => s.requests)
    return [
      compare('steer.over_tool_ms', 'ms', median(over(ours)), medianOrNull(over(theirs))),
      compare('steer.requests', 'count', median(requests(ours)), medianOrNull(requests(theirs)))
    ]
  }
}

async function steered(): Promise<Steered> {
  let requests = 0
  let shards = 0
  let shardEnded = NaN
  let overToolMs = NaN
  const stream = answering(async (n, messages) => {
    requests = n
    const told = holds(messages, WORDS)
    if (told && Number.isNaN(overToolMs)) overToolMs = performance.now() - shardEnded
    await sleep(25)
    return told || shards === 6 ? { text: 'Concluded.' } : { call: 'scan', arguments: '{}' }
  })
  const scan = tool('scan', z.object({}), async () => {
    if (shards === 2) setTimeout(() => void steerWith(session, WORDS), 75)
    await sleep(150)
    shardEnded = performance.now()
    return `shard ${String(++shards)} clean`
  })
  const core = openCore(stream, { tools: [scan] })
  const session = core.session()
  await say(session, 'Scan.')
  await core.close()
  if (Number.isNaN(overToolMs)) throw new Error('no request carried the steering')
  return { requests, overToolMs }
}
