// What a turn costs when the whole stack is in it: the loop, its hooks, the session, a database in a file, and a watcher that reads every event. The
// tool takes no time and only reads. Between a request and its answer the event loop turns once, as with any model that is not in this process: else
// several turns would share one transaction. 1,000 turns in a new session; 200 in one that holds 10,000 or 100,000 messages, the building of the first
// context included. Pi: its AgentSession with a session file and a listener, same script; its context is ready before the clock starts.
import { z } from 'zod'
import { answering, openCore, openStored, readToEnd, say, storeSession, tool } from '../core'
import { saidAt } from '../history'
import { compare, inTurns, loadPeer, median, medianOrNull, type Row, round } from '../row'

interface Turns {
  readonly msPerTurn: number
  /** Milliseconds a turn of the first and of the last hundred. */
  readonly first: number
  readonly last: number
}
interface Peer {
  sessionTurns(turns: number, history: number, said: typeof saidAt): Promise<Turns>
}
const RUNS = 3

export const turns1000: Row = {
  name: 'turns_1000',
  async run() {
    const { ours, theirs } = await besidePi(1_000, 0)
    const growth = (of: readonly Turns[]): number[] => of.map((t) => t.last / t.first)
    return [
      compare('turns_1000.ms_per_turn', 'ms', median(ours.map(msPerTurn)), medianOrNull(theirs.map(msPerTurn))),
      compare('turns_1000.last_over_first', 'ratio', median(growth(ours)), medianOrNull(growth(theirs)))
    ]
  }
}

export const turnsOn10k: Row = {
  name: 'turns_on_10k',
  async run() {
    const { ours, theirs } = await besidePi(200, 10_000)
    return [compare('turns_on_10k.ms_per_turn', 'ms', median(ours.map(msPerTurn)), medianOrNull(theirs.map(msPerTurn)))]
  }
}

/** No peer but Tau itself on 10,000 messages, measured in turns with it. */
export const turnsOn100k: Row = {
  name: 'turns_on_100k',
  async run() {
    await warmUp()
    const on = (history: number) => async () => msPerTurn(await turns(200, history))
    const { ours, theirs } = await inTurns(2 * RUNS, on(100_000), on(10_000))
    const [large, small] = [median(ours), median(theirs)]
    return [
      { name: 'turns_on_100k.ms_per_turn', value: round(large), unit: 'ms' },
      { name: 'turns_on_100k.over_10k', value: round(large / small), unit: 'ratio' }
    ]
  }
}

async function besidePi(count: number, history: number): Promise<{ ours: readonly Turns[]; theirs: readonly Turns[] }> {
  const pi = await loadPeer<Peer>('pi/session.mjs')
  await warmUp()
  await pi?.sessionTurns(100, 0, saidAt)
  return inTurns(RUNS, () => turns(count, history), pi && (() => pi.sessionTurns(count, history, saidAt)))
}

const msPerTurn = (t: Turns): number => t.msPerTurn
const warmUp = (): Promise<Turns> => turns(100, 0)

/** `count` turns of a tool and a closing word, in a session that holds `history` messages. */
async function turns(count: number, history: number): Promise<Turns> {
  const stored = storeSession(history)
  const marks: number[] = []
  const stream = answering(async (n) => {
    marks.push(performance.now())
    await new Promise(setImmediate)
    return n <= count ? { call: 'tick', arguments: `{"n":${String(n)}}` } : { text: 'Done.' }
  })
  let ticks = 0
  // something else each time: nobody would take it for a circle
  const tick = tool('tick', z.object({ n: z.int() }), () => Promise.resolve(`ok ${String(++ticks)}`))
  const core = openCore(stream, { home: stored.home, tools: [tick], turns: count })
  const session = openStored(core, stored.id)
  const read = readToEnd(session)
  const start = performance.now()
  await say(session, 'Go.')
  const events = await read
  const ms = performance.now() - start
  if (ticks !== count || marks.length !== count + 1 || events < count * 6)
    throw new Error(`${String(ticks)} calls, ${String(marks.length)} requests, ${String(events)} events`)
  await core.close()
  stored.remove()
  const per = (from: number, to: number): number => ((marks[to] ?? 0) - (marks[from] ?? 0)) / (to - from)
  return { msPerTurn: ms / count, first: per(0, 100), last: per(count - 100, count) }
}
