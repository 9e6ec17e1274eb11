// Turns counted bytes into states that a person can read: a few a second, with the time that is left at the speed of the last seconds.
import type { StarterState } from '../../../shared/contract'

type Fetching = Extract<StarterState, { state: 'fetching' }>

export interface Progress {
  /** Begins a step of `total` bytes (0: unknown); again with the same step changes nothing. */
  enter(step: Fetching['step'], total: number): void
  /** Bytes of this step so far. */
  add(done: number): void
  stop(): void
}

/** `emit` gets each change of step at once, and bytes at most every `everyMs`, the last ones included. */
export function createProgress(emit: (state: Fetching) => void, everyMs = 250, now: () => number = Date.now): Progress {
  let current: Fetching = { state: 'fetching', step: 'finding', done: 0, total: 0 }
  let entered = false
  let emittedAt = -Infinity
  /** Some seconds of history: when how much was there. */
  let history: { readonly at: number; readonly done: number }[] = []
  let timer: NodeJS.Timeout | undefined

  const send = (): void => {
    clearTimeout(timer)
    timer = undefined
    emittedAt = now()
    const secondsLeft = timeLeft(history, current)
    emit({ ...current, ...(secondsLeft !== undefined && { secondsLeft }) })
  }
  return {
    enter(step, total) {
      if (entered && step === current.step && total === current.total) return
      entered = true
      current = { state: 'fetching', step, done: 0, total }
      history = []
      send()
    },
    add(done) {
      current = { ...current, done }
      // ten points a second are enough; chunks come by the thousand
      if (now() - (history.at(-1)?.at ?? -Infinity) >= 100)
        history = [...history.filter((h) => h.at > now() - WINDOW_MS), { at: now(), done }]
      if (now() - emittedAt >= everyMs) send()
      else timer ??= setTimeout(send, everyMs)
    },
    stop() {
      clearTimeout(timer)
    }
  }
}

const WINDOW_MS = 5_000

function timeLeft(history: readonly { at: number; done: number }[], { done, total }: Fetching): number | undefined {
  const first = history[0]
  const last = history.at(-1)
  if (!first || !last || total === 0 || last.at - first.at < 500 || last.done <= first.done) return undefined
  return Math.max(0, Math.round(((total - done) * (last.at - first.at)) / (last.done - first.done) / 1_000))
}
