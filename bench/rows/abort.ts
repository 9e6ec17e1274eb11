// From stop to idle while a tool runs: one that listens, one that is deaf for a second, one that never ends. Pi: its agent, nothing stored; null
// where it was not idle within a second and a half.
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { answering, openCore, tool } from '../core'
import { compare, type Figure, inTurns, loadPeer, median, type Row } from '../row'

const KINDS = ['listening', 'deaf', 'endless'] as const
type Kind = (typeof KINDS)[number]
interface Peer {
  /** Null: not idle after `limitMs`. */
  abort(kind: Kind, limitMs: number): Promise<number | null>
}
const RUNS = 5
const LIMIT_MS = 1_500

export const abort: Row = {
  name: 'abort',
  async run() {
    const pi = await loadPeer<Peer>('pi/abort.mjs')
    const figures: Figure[] = []
    for (const kind of KINDS) {
      const { ours, theirs } = await inTurns(RUNS, () => stopped(kind), pi && (() => pi.abort(kind, LIMIT_MS)))
      const settled = theirs.filter((ms) => ms !== null)
      const peer = settled.length > 0 && settled.length === theirs.length ? median(settled) : null
      figures.push(compare(`abort.${kind}_ms`, 'ms', median(ours), peer))
    }
    return figures
  }
}

/** What the tool does while it is told to stop. */
const handlers: Readonly<Record<Kind, (signal: AbortSignal) => Promise<unknown>>> = {
  listening: (signal) => sleep(60_000, undefined, { signal }),
  deaf: () => sleep(1_000),
  endless: () => new Promise(() => undefined)
}

async function stopped(kind: Kind): Promise<number> {
  const began = Promise.withResolvers<undefined>()
  let handler: Promise<unknown> | undefined
  const work = tool('work', z.object({}), async (signal) => {
    handler = handlers[kind](signal)
    began.resolve(undefined)
    await handler
    return 'late'
  })
  const core = openCore(
    answering(() => ({ call: 'work', arguments: '{}' })),
    { tools: [work] }
  )
  const session = core.session()
  await session.prompt({ text: 'Go.', itemId: 'go' })
  await began.promise
  await sleep(50)
  const start = performance.now()
  session.stop()
  await session.waitForIdle()
  const ms = performance.now() - start
  if (kind === 'deaf') await handler // what it still does is nobody else's figure
  await core.close()
  return ms
}
