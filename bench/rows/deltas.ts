// How many pieces of text go through the session into the store in a second, with a watcher that reads them. 64 arrive together, as they do off a
// socket. Pi: its AgentSession with a session file and a listener.
import { openHarness, say } from '../../test/support/harness'
import type { StreamFn } from '../../src/main/models/model'
import { compare, loadPeer, median, type Row } from '../row'

const DELTAS = 20_000

interface Peer {
  /** Deltas a second. */
  sessionStream(deltas: number): Promise<number>
}

export const deltas20k: Row = {
  name: 'deltas_20k',
  async run() {
    const pi = await loadPeer<Peer>('pi/session.mjs')
    await deltas()
    const ours: number[] = []
    const theirs: number[] = []
    for (let i = 0; i < 3; i++) {
      ours.push(await deltas())
      if (pi) theirs.push(await pi.sessionStream(DELTAS))
    }
    return [compare('deltas_20k.per_s', 'per_s', median(ours), theirs.length > 0 ? median(theirs) : null)]
  }
}

async function deltas(): Promise<number> {
  const stream: StreamFn = async function* () {
    for (let i = 0; i < DELTAS; i++) {
      yield { type: 'text', delta: 'abcd ' }
      if (i % 64 === 0) await new Promise(setImmediate)
    }
    yield { type: 'end', stopReason: 'stop', usage: {} }
  }
  const core = openHarness(stream)
  const session = core.session()
  let chars = 0
  const read = (async () => {
    for await (const event of session.watch(0, new AbortController().signal)) {
      if (event.type === 'message_update') chars += event.delta.length
      if (event.type === 'agent_end') return
    }
  })()
  const start = performance.now()
  await say(session, 'Write.')
  await read
  const seconds = (performance.now() - start) / 1_000
  if (chars !== DELTAS * 5) throw new Error(`${String(chars)} characters arrived`)
  await core.close()
  return DELTAS / seconds
}
