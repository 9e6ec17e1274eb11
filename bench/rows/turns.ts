// What a turn costs when the whole stack is in it: the loop, its hooks, the session, a database in a file, and a watcher that reads every event.
// 1,000 turns in a new session; 200 in one that holds 10,000 and 100,000 messages. Pi: its AgentSession with a session file, same script.
import { DEFAULT_BUDGET } from '../../src/main/policy/budget'
import { openHarness, say } from '../../test/support/harness'
import { answering, fill, readToEnd, tick, WINDOW } from '../core'
import { compare, type Figure, loadPeer, median, type Row, round } from '../row'

interface Turns {
  readonly msPerTurn: number
  /** Milliseconds a turn of the first and of the last hundred. */
  readonly first: number
  readonly last: number
}
interface Peer {
  sessionTurns(turns: number, history: number): Promise<Turns>
}
const loadPi = (): Promise<Peer | undefined> => loadPeer<Peer>('pi/session.mjs')

export const turns1000: Row = {
  name: 'turns_1000',
  async run() {
    const pi = await loadPi()
    await turns(100, 0) // warm
    const ours = [await turns(1_000, 0)]
    const theirs = pi ? await pi.sessionTurns(1_000, 0) : null
    for (let i = 0; i < 2; i++) ours.push(await turns(1_000, 0))
    const ratio = median(ours.map((t) => t.last / t.first))
    return [
      compare('turns_1000.ms_per_turn', 'ms', median(ours.map((t) => t.msPerTurn)), theirs?.msPerTurn ?? null),
      compare('turns_1000.last_over_first', 'ratio', ratio, theirs ? theirs.last / theirs.first : null)
    ]
  }
}

export const turnsOn10k: Row = {
  name: 'turns_on_10k',
  async run() {
    const pi = await loadPi()
    await turns(100, 0)
    const ours = [await turns(200, 10_000)]
    const theirs = pi ? await pi.sessionTurns(200, 10_000) : null
    for (let i = 0; i < 2; i++) ours.push(await turns(200, 10_000))
    return [compare('turns_on_10k.ms_per_turn', 'ms', median(ours.map((t) => t.msPerTurn)), theirs?.msPerTurn ?? null)]
  }
}

/** The peer of this row is Tau itself on 10,000 messages, measured in turns with it. */
export const turnsOn100k: Row = {
  name: 'turns_on_100k',
  async run(): Promise<Figure[]> {
    await turns(100, 0)
    const small: number[] = []
    const large: number[] = []
    for (let i = 0; i < 3; i++) {
      small.push((await turns(200, 10_000)).msPerTurn)
      large.push((await turns(200, 100_000)).msPerTurn)
    }
    const [ours, theirs] = [median(large), median(small)]
    return [{ name: 'turns_on_100k.ms_per_turn', value: round(ours), unit: 'ms', peer: round(theirs), ratio: round(ours / theirs, 2) }]
  }
}

/** `count` tool turns and a closing word, in a session that holds `history` messages. */
async function turns(count: number, history: number): Promise<Turns> {
  const marks: number[] = []
  const stream = answering((n) => {
    marks.push(performance.now())
    return n <= count ? { call: 'tick' } : { text: 'Done.' }
  })
  const core = openHarness(stream, { tools: [tick()], budget: { ...DEFAULT_BUDGET, turns: count + 1, calls: count }, window: WINDOW })
  const created = core.session()
  fill(core.store, created.info.id, history)
  const session = core.reopen(created)
  const read = readToEnd(session, 0)
  const start = performance.now()
  await say(session, 'Go.')
  const msPerTurn = (performance.now() - start) / count
  const events = await read
  if (marks.length !== count + 1 || events < count * 6) throw new Error(`${String(marks.length)} requests, ${String(events)} events`)
  await core.close()
  const per = (from: number, to: number): number => ((marks[to] ?? 0) - (marks[from] ?? 0)) / (to - from)
  return { msPerTurn, first: per(0, 100), last: per(count - 100, count) }
}
