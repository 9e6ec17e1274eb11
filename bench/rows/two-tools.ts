// What a host adds to the work of a model and its tools: one prompt, two tools beside each other (180 and 300 ms), a final text.
//
// Tau: the whole core, a session on a file database, every event stored and handed to a watcher. Pi: its agent, events handed to a listener,
// nothing stored. Both play the same script; the two timers alone, measured beside them, are taken off.
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Tool } from '../../src/main/loop/tool'
import { type Harness, openHarness, say, scripted } from '../../test/support/harness'
import { compare, loadPeer, median, type Row, time } from '../row'

const RUNS = 20
const SCRIPT = 'call: read_log {}\ncall: load {}\n---\nsay: All fine.\n'

interface Peer {
  /** Prepares a fresh agent; what it returns does the work once. */
  prepareTwoTools(): () => Promise<void>
}

export const twoTools: Row = {
  name: 'two_tools',
  async run() {
    const pi = await loadPeer<Peer>('pi/two-tools.mjs')
    const core = openHarness(scripted(SCRIPT), { tools: [nap('read_log', 180), nap('load', 300)] })
    const walls = { tau: [] as number[], pi: [] as number[], bare: [] as number[] }
    const measure = {
      tau: async () => walls.tau.push(await time(prepareTau(core))),
      pi: async () => pi && walls.pi.push(await time(pi.prepareTwoTools())),
      bare: async () => walls.bare.push(await time(() => Promise.all([sleep(180), sleep(300)])))
    }
    for (let run = 0; run < RUNS; run++) {
      // in turns, so that what else the machine does meets all alike
      for (const who of run % 2 === 0 ? (['tau', 'pi', 'bare'] as const) : (['pi', 'tau', 'bare'] as const)) await measure[who]()
    }
    await core.close()
    const own = (of: readonly number[]): number => median(of) - median(walls.bare)
    return [compare('two_tools.own_ms', 'ms', own(walls.tau), pi ? own(walls.pi) : null)]
  }
}

function prepareTau(core: Harness): () => Promise<void> {
  const session = core.session()
  const stop = new AbortController()
  const watched = (async () => {
    let events = 0
    for await (const event of session.watch(0, stop.signal)) {
      events++
      if (event.type === 'agent_end') break
    }
    if (events === 0) throw new Error('no event came')
  })()
  return async () => {
    await say(session, 'Check the service.')
    await watched
  }
}

const nap = (name: string, ms: number): Tool => ({
  name,
  description: name,
  label: 'readonly',
  replay: 'safe',
  parameters: z.object({}),
  execute: async () => {
    await sleep(ms)
    return { code: 'ok', text: 'done' }
  }
})
