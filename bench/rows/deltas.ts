// How many pieces of text go through the session into the store in a second, until a watcher has read all of them; 64 arrive together, as they do
// off a socket. Tau's watcher gets what came within a frame as one event, from the store. Pi: its AgentSession with a session file, which writes the
// message when it is whole, and a listener that gets each piece.
import { openCore, readToEnd, say, storedWords, streaming } from '../core'
import { compare, inTurns, loadPeer, median, medianOrNull, type Row } from '../row'

const DELTAS = 20_000
const PIECE = 'abcd '
const RUNS = 5

interface Peer {
  /** Deltas a second. */
  sessionStream(deltas: number, piece: string): Promise<number>
}

export const deltas20k: Row = {
  name: 'deltas_20k',
  async run() {
    const pi = await loadPeer<Peer>('pi/session.mjs')
    const theirWork = pi && (() => pi.sessionStream(DELTAS, PIECE))
    await inTurns(1, deltas, theirWork) // cold code
    const { ours, theirs } = await inTurns(RUNS, deltas, theirWork)
    return [compare('deltas_20k.per_s', 'per_s', median(ours), medianOrNull(theirs))]
  }
}

async function deltas(): Promise<number> {
  const core = openCore(streaming(DELTAS, PIECE, 64), { tools: [] })
  const session = core.session()
  let shown = 0
  const read = readToEnd(session, (event) => {
    if (event.type === 'message_update') shown += event.delta.length
  })
  const start = performance.now()
  await say(session, 'Write.')
  await read
  const seconds = (performance.now() - start) / 1_000
  const stored = storedWords(session).at(-1)?.length ?? 0
  if (shown !== DELTAS * PIECE.length || stored !== shown) throw new Error(`${String(shown)} characters shown, ${String(stored)} stored`)
  await core.close()
  return DELTAS / seconds
}
