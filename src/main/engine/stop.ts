// Stop texts: the answer ends before the first of them. What could still become one is held back.

export interface StopFilter {
  /** What of the text so far can be shown now. */
  push(delta: string): string
  /** What was held back when the answer ended otherwise; nothing after a stop. */
  end(): string
  readonly stopped: () => boolean
}

export function createStopFilter(stops: readonly string[]): StopFilter {
  const all = stops.filter((s) => s !== '')
  let held = ''
  let stopped = false
  return {
    stopped: () => stopped,
    push(delta) {
      if (stopped) return ''
      held += delta
      const found = all.map((s) => held.indexOf(s)).filter((at) => at >= 0)
      if (found.length > 0) {
        stopped = true
        return held.slice(0, Math.min(...found))
      }
      const sure = held.length - Math.max(0, ...all.map((s) => overlap(held, s)))
      const shown = held.slice(0, sure)
      held = held.slice(sure)
      return shown
    },
    end() {
      return stopped ? '' : held
    }
  }
}

/** Length of the longest end of `text` that `stop` begins with. */
function overlap(text: string, stop: string): number {
  for (let n = Math.min(stop.length - 1, text.length); n > 0; n--) if (text.endsWith(stop.slice(0, n))) return n
  return 0
}
