// Memory (RSS) that a session of 100,000 messages takes while it is open, with a context of 200,000 tokens ready and what a window shows of it, above
// an empty session. Each is measured in a process of its own that has not written it, after a turn in it and after collecting garbage.
import { execFileSync } from 'node:child_process'
import { z } from 'zod'
import { answering, openCore, openStored, readToEnd, say, type StoredSession, storeSession, tool } from '../core'
import { type Figure, inTurns, median, type Row, round } from '../row'

/** Set for the processes that this row starts: the session to open. */
const CHILD = 'TAU_BENCH_MEMORY'
const RUNS = 3

export const memory100k: Row = {
  name: 'memory_100k',
  async run() {
    const given = process.env[CHILD]
    if (given !== undefined) return [{ name: 'rss', value: await measure(JSON.parse(given) as Opened), unit: 'mb' }]
    const long = storeSession(100_000)
    const empty = storeSession(0)
    const inChild = (stored: StoredSession) => () => Promise.resolve(child(stored))
    const { ours, theirs } = await inTurns(RUNS, inChild(long), inChild(empty))
    long.remove()
    empty.remove()
    return [{ name: 'memory_100k.mb', value: round(median(ours) - median(theirs), 1), unit: 'mb' }]
  }
}
type Opened = Pick<StoredSession, 'home' | 'id'>

function child({ home, id }: StoredSession): number {
  const opened: Opened = { home, id }
  const args = ['--expose-gc', process.argv[1] ?? '', memory100k.name]
  const printed = execFileSync(process.execPath, args, { encoding: 'utf8', env: { ...process.env, [CHILD]: JSON.stringify(opened) } })
  return (JSON.parse(printed) as Figure).value
}

/** Megabytes of this process with the session open. */
async function measure({ home, id }: Opened): Promise<number> {
  const stream = answering((n) => (n === 1 ? { call: 'tick', arguments: '{}' } : { text: 'Done.' }))
  const core = openCore(stream, { home, tools: [tool('tick', z.object({}), () => Promise.resolve('ok'))] })
  const session = openStored(core, id)
  const read = readToEnd(session)
  await say(session, 'Go.')
  await read
  const shown = session.snapshot()
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.()
    await new Promise(setImmediate)
  }
  const mb = process.memoryUsage.rss() / 2 ** 20
  if (shown.entries.length === 0) throw new Error('the session is empty')
  await core.close()
  return mb
}
