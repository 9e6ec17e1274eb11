// One job at a time, the rest in the order they came: a machine without a graphics card serves one generation well and two badly.
import { Refusal } from './refusal'

export interface Lane {
  /** Jobs that run or wait. */
  readonly busy: () => number
  /** Runs `job` when its turn comes; a job whose signal aborts while it waits never runs and rejects with the signal's reason. */
  run<T>(job: () => Promise<T>, signal: AbortSignal): Promise<T>
}

/** `most`: jobs that may run and wait; one more is refused. */
export function createLane(most = 64): Lane {
  let last: Promise<unknown> = Promise.resolve()
  let busy = 0
  return {
    busy: () => busy,
    async run(job, signal) {
      if (busy >= most) throw new Refusal(503, 'server busy, please try again.  maximum pending requests exceeded')
      busy++
      const before = last
      const work = before.then(() => {
        signal.throwIfAborted()
        return job()
      })
      last = work.catch(() => undefined).finally(() => busy--)
      return work
    }
  }
}
