// The end of an output: what a model sees of a command (spec T7). The whole goes to the keeper of outputs.
import type { OutputKeeper } from '../../loop/tool'
import { createInert } from './inert'

const MAX_LINES = 1_000
const MAX_BYTES = 30_000

export interface Tail {
  push(bytes: Uint8Array): void
  /** Ends it. `text`: the last lines, with a mark where something was left out. */
  end(): Promise<{ text: string; ref?: string }>
  /** The newest lines, at most `lines`, without ending it. */
  newest(lines: number): string
  readonly bytes: number
}

export function createTail(outputs: OutputKeeper): Tail {
  const inert = createInert()
  const sink = outputs.open()
  let kept = ''
  let bytes = 0
  let lines = 0

  function add(text: string): void {
    if (text === '') return
    sink.write(text)
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
    kept = kept.length + text.length > 4 * MAX_BYTES ? (kept + text).slice(-2 * MAX_BYTES) : kept + text
  }

  return {
    push(chunk) {
      bytes += chunk.length
      add(inert.push(chunk))
    },
    async end() {
      add(inert.end())
      const { kept: stored, bytes: whole } = await sink.close()
      if (inert.binary) return { text: `[binary output: ${String(bytes)} bytes]` }
      const { text, left } = lastOf(kept, lines + (kept.endsWith('\n') || kept === '' ? 0 : 1), whole > kept.length)
      if (left === undefined) return { text }
      const rest = stored < whole ? `, of which the first ${String(stored)} bytes are kept` : ''
      return { text: `[cut: ${left} before this${rest}; lookup_reference ${sink.ref} reads them]\n${text}`, ref: sink.ref }
    },
    newest: (count) => kept.trimEnd().split('\n').slice(-count).join('\n').toWellFormed(),
    get bytes() {
      return bytes
    }
  }
}

/** The last lines within the limits; `left`: how much comes before them. */
function lastOf(kept: string, lines: number, cut: boolean): { text: string; left?: string } {
  const all = kept.replace(/\n$/, '').split('\n')
  let from = all.length
  for (let size = 0; from > 0 && all.length - from < MAX_LINES; from--) {
    size += Buffer.byteLength(all[from - 1] ?? '') + 1
    if (size > MAX_BYTES) break
  }
  const shown = all.slice(from)
  if (shown.length === 0)
    return { text: (all.at(-1) ?? '').slice(-MAX_BYTES).toWellFormed(), left: `${String(lines - 1)} lines and a part of this one` }
  // the first piece that memory still holds may be half a line
  const text = shown.join('\n').toWellFormed()
  return from > 0 || cut ? { text, left: `${String(Math.max(1, lines - shown.length))} lines` } : { text }
}
