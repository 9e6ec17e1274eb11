// Memory that a session of 100,000 messages takes while it is open with a context ready, above an empty one. Each is measured in a process of its
// own, after collecting garbage.
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { DEFAULT_BUDGET } from '../../src/main/policy/budget'
import { freshFolder, openHarness, say } from '../../test/support/harness'
import { answering, readToEnd, storedSession, tick, WINDOW } from '../core'
import { median, type Row, round } from '../row'

/** Set for the processes that this row starts: the number of messages. */
const CHILD = 'TAU_BENCH_MEMORY'

export const memory100k: Row = {
  name: 'memory_100k',
  async run() {
    const count = process.env[CHILD]
    if (count !== undefined) {
      const mb = await measure(Number(count))
      return [{ name: 'mb', value: mb, unit: 'mb' }]
    }
    const samples = Array.from({ length: 3 }, () => child(100_000) - child(0))
    return [{ name: 'memory_100k.mb', value: round(median(samples), 1), unit: 'mb' }]
  }
}

function child(count: number): number {
  const args = ['--expose-gc', process.argv[1] ?? '', 'memory_100k']
  const printed = execFileSync(process.execPath, args, { encoding: 'utf8', env: { ...process.env, [CHILD]: String(count) } })
  return (JSON.parse(printed) as { value: number }).value
}

/** Megabytes of this process with such a session open, after a turn in it. */
async function measure(count: number): Promise<number> {
  const home = freshFolder('memory')
  const id = storedSession(home, count)
  const stream = answering((n) => (n === 1 ? { call: 'tick' } : { text: 'Done.' }))
  const core = openHarness(stream, { home, tools: [tick()], window: WINDOW, budget: DEFAULT_BUDGET })
  const session = core.sessions.get(id)
  if (!session) throw new Error('the session is gone')
  const read = readToEnd(session, 0)
  await say(session, 'Go.')
  await read
  session.snapshot()
  for (let i = 0; i < 3; i++) {
    ;(globalThis as { gc?: () => void }).gc?.()
    await new Promise(setImmediate)
  }
  const mb = process.memoryUsage.rss() / 2 ** 20
  await core.close()
  rmSync(home, { recursive: true })
  return mb
}
