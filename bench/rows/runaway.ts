// How many requests a model that repeats one failing call for ever gets, with default settings. Pi has no limit of its own: 31 is the script's.
import { z } from 'zod'
import type { Tool } from '../../src/main/loop/tool'
import { openHarness, say } from '../../test/support/harness'
import type { ModelEvent, StreamFn } from '../../src/main/models/model'
import { compare, loadPeer, type Row } from '../row'

const CAP = 30
interface Peer {
  runaway(cap: number): Promise<number>
}

export const runaway: Row = {
  name: 'runaway',
  async run() {
    const pi = await loadPeer<Peer>('pi/runaway.mjs')
    let requests = 0
    const stream: StreamFn = async function* (): AsyncGenerator<ModelEvent> {
      const over = ++requests > CAP
      yield await Promise.resolve(
        over ? { type: 'text', delta: 'Enough.' } : { type: 'call', name: 'read', arguments: '{"path":"missing"}' }
      )
      yield { type: 'end', stopReason: over ? 'stop' : 'calls', usage: {} }
    }
    const read: Tool = {
      name: 'read',
      description: 'read',
      label: 'readonly',
      replay: 'safe',
      parameters: z.object({ path: z.string() }),
      execute: () => Promise.resolve({ code: 'not_found', text: 'no such file' })
    }
    const core = openHarness(stream, { tools: [read] })
    const session = core.session()
    await say(session, 'Go.')
    const cause = session.snapshot().run?.cause
    await core.close()
    if (requests <= CAP && cause?.kind !== 'repetition') throw new Error(`ended for ${JSON.stringify(cause)}`)
    return [compare('runaway.requests', 'count', requests, pi ? await pi.runaway(CAP) : null)]
  }
}
