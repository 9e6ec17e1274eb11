// From a data folder on the disk to the first request, for a session of 10,000 messages: the folder is taken, its database opened, the session read
// as far as the context needs, a word of the person stored, the context built and handed to the model. `ms` with a window of 200,000 tokens, which
// holds the newest 2,250 or so; `whole_ms` with one of 10,000,000, which holds all of them.
// Pi: opens its session file and builds the context, which always holds everything; nothing is stored.
import { answering, openCore, openStored, say, type StoredSession, storeSession } from '../core'
import { saidAt } from '../history'
import { compare, inTurns, loadPeer, median, medianOrNull, type Row } from '../row'

const COUNT = 10_000
const RUNS = 10

interface Peer {
  /** Stores the messages; what comes back opens them once and says how many milliseconds that took. */
  storeSession(count: number, said: typeof saidAt): () => number
}

export const open10k: Row = {
  name: 'open_10k',
  async run() {
    const pi = await loadPeer<Peer>('pi/store.mjs')
    const openPis = pi?.storeSession(COUNT, saidAt)
    const stored = storeSession(COUNT)
    const ourWork = async (): Promise<{ part: number; whole: number }> => ({
      part: await openOnce(stored, 200_000, 1_000),
      whole: await openOnce(stored, 10_000_000, COUNT)
    })
    const theirWork = openPis && (() => Promise.resolve(openPis()))
    await inTurns(2, ourWork, theirWork) // cold code
    const { ours, theirs } = await inTurns(RUNS, ourWork, theirWork)
    stored.remove()
    const peer = medianOrNull(theirs)
    return [
      compare('open_10k.ms', 'ms', median(ours.map((o) => o.part)), peer),
      compare('open_10k.whole_ms', 'ms', median(ours.map((o) => o.whole)), peer)
    ]
  }
}

async function openOnce({ home, id }: StoredSession, window: number, atLeast: number): Promise<number> {
  let ready = NaN
  let held = 0
  const stream = answering((_n, messages) => {
    ready = performance.now()
    held = messages.length
    return { text: 'Done.' }
  })
  const start = performance.now()
  const core = openCore(stream, { home, tools: [], window })
  await say(openStored(core, id), 'Go on.')
  await core.close()
  if (held < atLeast) throw new Error(`the context holds ${String(held)} messages`)
  return ready - start
}
