// From stop to idle while a tool runs: one that listens, one that is deaf for a second, one that never ends.
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Tool } from '../../src/main/loop/tool'
import { openHarness } from '../../test/support/harness'
import { answering } from '../core'
import { compare, type Figure, loadPeer, median, type Row } from '../row'

const KINDS = ['listening', 'deaf', 'endless'] as const
type Kind = (typeof KINDS)[number]
interface Peer {
  /** Null: still not idle after a while. */
  abort(kind: Kind): Promise<number | null>
}
const RUNS = 5

export const abort: Row = {
  name: 'abort',
  async run() {
    const pi = await loadPeer<Peer>('pi/abort.mjs')
    const figures: Figure[] = []
    for (const kind of KINDS) {
      const ours: number[] = []
      for (let run = 0; run < RUNS; run++) ours.push(await stopped(kind))
      figures.push(compare(`abort.${kind}_ms`, 'ms', median(ours), pi ? await pi.abort(kind) : null))
    }
    return figures
  }
}

const handlers: Readonly<Record<Kind, Tool['execute']>> = {
  listening: async (_args, { signal }) => {
    await sleep(60_000, undefined, { signal })
    return { code: 'ok', text: 'late' }
  },
  deaf: async () => {
    await sleep(1_000)
    return { code: 'ok', text: 'late' }
  },
  endless: () => new Promise(() => undefined)
}

async function stopped(kind: Kind): Promise<number> {
  const began = Promise.withResolvers<undefined>()
  const work: Tool = {
    name: 'work',
    description: 'work',
    label: 'readonly',
    replay: 'safe',
    parameters: z.object({}),
    execute: (args, run) => {
      began.resolve(undefined)
      return handlers[kind](args, run)
    }
  }
  const core = openHarness(
    answering(() => ({ call: 'work' })),
    { tools: [work] }
  )
  const session = core.session()
  await session.prompt({ text: 'Go.', itemId: 'go' })
  await began.promise
  await sleep(50)
  const start = performance.now()
  session.stop()
  await session.waitForIdle()
  const ms = performance.now() - start
  await core.close()
  return ms
}
