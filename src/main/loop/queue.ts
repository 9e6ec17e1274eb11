// Order among effects (spec T5): calls of one workspace form a lane, shared by every session in it. A call with effects runs alone; calls that
// only read run beside each other. Folders that contain each other are one lane where they meet: what holds for `/a` holds for `/a/b`.
//
// Fair between sessions: of those whose oldest waiting call could go, the session that was served longest ago is next. Within a session calls keep
// their order, except that nothing waits for what it does not touch.

export interface JobOwner {
  readonly sessionId: string
  readonly runId: string
  readonly callId: string
  readonly tool: string
}
interface Job {
  readonly owner: JobOwner
  /** Runs alone in its lane. */
  readonly exclusive: boolean
  run(): Promise<void>
  /** It cannot start now: `behind` is what must end before it. Called once. */
  waits?(behind: readonly JobOwner[]): void
}
/** A job as anybody may see it. */
interface QueuedWork extends JobOwner {
  readonly id: string
  readonly workspace: string
  readonly exclusive: boolean
  readonly state: 'waiting' | 'running'
  /** Ids of the work that must end before it. */
  readonly behind: readonly string[]
  /** Milliseconds since 1970: since when it is in its state. */
  readonly since: number
}

export interface TaskQueue {
  /** Resolves when the job is over, or at once when `signal` aborts before it started. Rejects with what the job throws. */
  add(workspace: string, job: Job, signal: AbortSignal): Promise<'done' | 'cancelled'>
  /** Everything that waits or runs, in the order in which it came. */
  work(): QueuedWork[]
  /** Calls `changed` at most once a tick after the work changed, until the returned function is called. */
  watch(changed: () => void): () => void
}

interface Item {
  readonly id: string
  readonly workspace: string
  readonly folder: string
  readonly job: Job
  since: number
  running: boolean
  start(): void
}

/** `readers`: how many reading jobs may run beside each other in one lane. `now`: milliseconds since 1970. */
export function createQueue(readers = 8, now: () => number = Date.now): TaskQueue {
  const items: Item[] = [] // in the order in which they came
  const served = new Map<string, number>()
  const watchers = new Set<() => void>()
  let turn = 0
  let count = 0
  let told = false

  const tell = (): void => {
    if (told || watchers.size === 0) return
    told = true
    queueMicrotask(() => {
      told = false
      for (const changed of watchers) changed()
    })
  }

  /** Whether `a` must end before `b` may begin, if it goes first. */
  const excludes = (a: Item, b: Item): boolean => (a.job.exclusive || b.job.exclusive) && overlap(a.folder, b.folder)

  const couldRun = (item: Item): boolean => {
    const beside = items.filter((i) => i.running && overlap(i.folder, item.folder))
    return item.job.exclusive ? beside.length === 0 : beside.length < readers && !beside.some((i) => i.job.exclusive)
  }

  /** What must end before a waiting item: what runs there, and what waits there and goes first. */
  const behind = (item: Item): Item[] => {
    const at = items.indexOf(item)
    return items.filter((i, n) => i !== item && excludes(i, item) && (i.running || n < at))
  }

  /** The next item to start: none while one that came before it, of its own session or due before it, still has to go. */
  function next(): Item | undefined {
    const waiting = items.filter((i) => !i.running)
    const ready = waiting.filter((item, n) => {
      if (!couldRun(item)) return false
      // order within a session; and a reader never overtakes an effect that waits, or readers could starve it for ever
      return !waiting.slice(0, n).some((w) => excludes(w, item) && (w.job.owner.sessionId === item.job.owner.sessionId || blocks(w)))
    })
    const last = (i: Item): number => served.get(i.job.owner.sessionId) ?? 0
    return ready.reduce<Item | undefined>((best, i) => (best === undefined || last(i) < last(best) ? i : best), undefined)
  }

  /** A waiting effect keeps later readers back unless it is merely another session's turn. */
  const blocks = (w: Item): boolean => w.job.exclusive && !couldRun(w)

  function pump(): void {
    for (let item = next(); item; item = next()) {
      item.running = true
      item.since = now()
      served.set(item.job.owner.sessionId, ++turn)
      item.start()
    }
    tell()
  }

  function leave(item: Item): void {
    items.splice(items.indexOf(item), 1)
    const { sessionId } = item.job.owner
    if (!items.some((i) => i.job.owner.sessionId === sessionId)) served.delete(sessionId) // a session that comes back is not behind
    pump()
  }

  return {
    add(workspace, job, signal) {
      if (signal.aborted) return Promise.resolve('cancelled')
      return new Promise((resolve, reject) => {
        const cancel = (): void => {
          resolve('cancelled')
          leave(item)
        }
        const item: Item = {
          id: `w${String(++count)}`,
          workspace,
          folder: folderOf(workspace),
          job,
          since: now(),
          running: false,
          start: () => {
            signal.removeEventListener('abort', cancel)
            job
              .run()
              .then(() => {
                resolve('done')
              }, reject)
              .finally(() => {
                leave(item)
              })
          }
        }
        signal.addEventListener('abort', cancel, { once: true })
        items.push(item)
        pump()
        if (!item.running) job.waits?.(behind(item).map((i) => i.job.owner))
      })
    },
    work: () =>
      items.map((item) => ({
        ...item.job.owner,
        id: item.id,
        workspace: item.workspace,
        exclusive: item.job.exclusive,
        state: item.running ? 'running' : 'waiting',
        behind: item.running ? [] : behind(item).map((i) => i.id),
        since: item.since
      })),
    watch(changed) {
      watchers.add(changed)
      return () => watchers.delete(changed)
    }
  }
}

/** Ends with a separator, so that `/a/` is not before `/ab/`. */
const folderOf = (workspace: string): string => `${workspace.replaceAll('\\', '/').replace(/\/+$/, '')}/`
const overlap = (a: string, b: string): boolean => a.startsWith(b) || b.startsWith(a)
