// Order among effects (spec T5): one lane a workspace, shared by every session in it. A call with effects runs alone; calls that only read run
// beside each other. First come, first served, so neither kind can starve the other.

interface Job {
  /** Runs alone in its lane. */
  readonly exclusive: boolean
  run(): Promise<void>
}
interface Waiting extends Job {
  start(): void
}
interface Lane {
  readonly waiting: Waiting[]
  running: number
  exclusive: boolean
}

export interface TaskQueue {
  /** Resolves when the job is over, or at once when `signal` aborts before it started. Rejects with what the job throws. */
  add(lane: string, job: Job, signal: AbortSignal): Promise<'done' | 'cancelled'>
  /** Jobs that wait in a lane. */
  waiting(lane: string): number
}

/** `readers`: how many reading jobs may run beside each other in one lane. */
export function createQueue(readers = 8): TaskQueue {
  const lanes = new Map<string, Lane>()
  const pump = (name: string, lane: Lane): void => {
    for (;;) {
      const next = lane.waiting[0]
      if (!next) break
      const free = next.exclusive ? lane.running === 0 : !lane.exclusive && lane.running < readers
      if (!free) break
      lane.waiting.shift()
      lane.running++
      lane.exclusive = next.exclusive
      next.start()
    }
    if (lane.running === 0 && lane.waiting.length === 0) lanes.delete(name)
  }
  return {
    waiting: (name) => lanes.get(name)?.waiting.length ?? 0,
    add(name, job, signal) {
      const lane = lanes.get(name) ?? { waiting: [], running: 0, exclusive: false }
      lanes.set(name, lane)
      return new Promise((resolve, reject) => {
        const cancel = (): void => {
          const place = lane.waiting.indexOf(waiting)
          if (place === -1) return
          lane.waiting.splice(place, 1)
          resolve('cancelled')
          pump(name, lane)
        }
        const waiting: Waiting = {
          ...job,
          start: () => {
            signal.removeEventListener('abort', cancel)
            const over = (): void => {
              lane.running--
              if (lane.running === 0) lane.exclusive = false
              pump(name, lane)
            }
            job.run().then(
              () => {
                over()
                resolve('done')
              },
              (error: unknown) => {
                over()
                reject(error instanceof Error ? error : new Error(String(error)))
              }
            )
          }
        }
        if (signal.aborted) {
          resolve('cancelled')
          pump(name, lane)
          return
        }
        signal.addEventListener('abort', cancel, { once: true })
        lane.waiting.push(waiting)
        pump(name, lane)
      })
    }
  }
}
