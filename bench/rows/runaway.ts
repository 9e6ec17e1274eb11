// How many requests a model gets that repeats one failing call for ever, with the settings that nobody changed. A model that nothing stops gives up
// by itself after `CAP` calls, so that the row ends: Pi's figure is that.
import { z } from 'zod'
import { answering, openCore, say, tool } from '../core'
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
    const stream = answering((n) => {
      requests = n
      return n > CAP ? { text: 'Enough.' } : { call: 'read', arguments: '{"path":"missing"}' }
    })
    const read = tool('read', z.object({ path: z.string() }), () => Promise.reject(new Error('no such file')))
    const core = openCore(stream, { tools: [read] })
    await say(core.session(), 'Go.')
    await core.close()
    return [compare('runaway.requests', 'count', requests, pi ? await pi.runaway(CAP) : null)]
  }
}
