// From a data folder on the disk to the context of the next request, for a session of 10,000 messages: the store is opened, the session read as far
// as the context needs, the request built. `ms` with a context of 200,000 tokens, `whole_ms` with one that all messages fit in. Pi: opens its
// session file and builds the context, which always holds everything.
import { rmSync } from 'node:fs'
import { contextAt } from '../../src/main/session/context/context'
import { openStore } from '../../src/main/store/store'
import { freshFolder } from '../../test/support/harness'
import { storedSession, WINDOW } from '../core'
import { compare, loadPeer, median, type Row } from '../row'

const COUNT = 10_000
const RUNS = 7

interface Peer {
  /** Stores the messages; what comes back opens them once and says how many milliseconds that took. */
  storedSession(count: number): Promise<{ open(): number; remove(): void }>
}

export const open10k: Row = {
  name: 'open_10k',
  async run() {
    const pi = await loadPeer<Peer>('pi/store.mjs')
    const theirs = pi ? await pi.storedSession(COUNT) : undefined
    const home = freshFolder('open')
    const id = storedSession(home, COUNT)
    const times = { part: [] as number[], whole: [] as number[], pi: [] as number[] }
    for (let run = 0; run <= RUNS; run++) {
      const part = openOnce(home, id, WINDOW)
      const whole = openOnce(home, id, 10_000_000)
      const pis = theirs?.open()
      if (run === 0) continue // cold code
      times.part.push(part)
      times.whole.push(whole)
      if (pis !== undefined) times.pi.push(pis)
    }
    theirs?.remove()
    rmSync(home, { recursive: true })
    const peer = times.pi.length > 0 ? median(times.pi) : null
    return [compare('open_10k.ms', 'ms', median(times.part), peer), compare('open_10k.whole_ms', 'ms', median(times.whole), peer)]
  }
}

function openOnce(home: string, id: string, window: number): number {
  const start = performance.now()
  const store = openStore(home, 'bench')
  const head = store.sessions.find(id)?.head ?? null
  const context = contextAt({ system: 'You are Tau.', tools: [], window, vision: false }, store.entries.up(id, head))
  const { messages } = context.request()
  const ms = performance.now() - start
  store.close()
  if (messages.length < 500) throw new Error(`the context holds ${String(messages.length)} messages`)
  return ms
}
