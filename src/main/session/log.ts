// The event log of one session as its writer and its watchers use it: store first, then tell (design §3.3).
//
// An event is stored at once (`commit`) or soon (`defer`): with the next transaction, whoever makes it, or at the end of this tick or frame. The
// order is always the order in which they came.
import type { EventDraft, SessionEvent } from '../../shared/event'
import type { Store } from '../store/store'

interface Deferred {
  draft: EventDraft
  /** The rows that belong to the event, in the same transaction. */
  readonly row?: () => void
  /** `frame`: streamed, gathered for 33 ms, so that a fast model floods neither the disk nor the windows. */
  readonly within: 'tick' | 'frame'
  /** What was to be stored could not be. */
  readonly failed: (error: unknown) => void
}

export interface EventLog {
  /**
   * Runs `work` as one transaction, after what was deferred; the events it adds become visible to watchers when all of it is stored. `durable`:
   * on the disk, not only safe from a killed process. All of it happens at `at`. Throws what the store throws; nothing is stored or shown then.
   */
  commit<T>(work: (add: (draft: EventDraft) => SessionEvent) => T, durable?: boolean, at?: number): T
  /** Stores an event soon. `merge` may join it with one that waits already: the newest for which it returns a draft. */
  defer(event: Deferred, merge?: (waiting: EventDraft, newest: boolean) => EventDraft | undefined): void
  /** Gives up what waits: it could not be stored, and whoever deferred it was told. */
  drop(): void
  readonly lastSeq: number
  /** Stored events after `after`, then those to come, until `signal` aborts. */
  readonly watch: (after: number, signal: AbortSignal) => AsyncGenerator<SessionEvent>
}

const BATCH = 500
/** A third of what is promised for streamed text (spec S5). */
const FRAME_MS = 33

export function openLog(store: Store, sessionId: string, now: () => number): EventLog {
  let lastSeq = store.events.lastSeq(sessionId)
  let news = Promise.withResolvers<undefined>()
  let waiting: Deferred[] = []
  let frame: NodeJS.Timeout | undefined
  let tick: NodeJS.Immediate | undefined

  const drop = (): void => {
    clearTimeout(frame)
    clearImmediate(tick)
    frame = tick = undefined
    waiting = []
  }
  const commit: EventLog['commit'] = (work, durable = false, at = now()) => {
    let seq = lastSeq
    const add = (draft: EventDraft): SessionEvent => {
      const event = store.events.append(sessionId, at, draft)
      seq = event.seq
      return event
    }
    const all = (): ReturnType<typeof work> => {
      for (const { draft, row } of waiting) {
        row?.()
        add(draft)
      }
      return work(add)
    }
    const value = durable ? store.writeDurably(all) : store.write(all)
    drop()
    if (seq !== lastSeq) {
      lastSeq = seq
      news.resolve(undefined)
      news = Promise.withResolvers()
    }
    return value
  }
  const flush = (): void => {
    const [first] = waiting
    if (!first) return
    try {
      commit(() => undefined)
    } catch (error) {
      drop()
      first.failed(error)
    }
  }
  return {
    get lastSeq() {
      return lastSeq
    },
    commit,
    drop,
    defer(event, merge) {
      for (let i = waiting.length - 1; merge && i >= 0; i--) {
        const old = waiting[i] as Deferred
        const merged = merge(old.draft, i === waiting.length - 1)
        if (!merged) continue
        old.draft = merged
        return
      }
      waiting.push(event)
      if (event.within === 'tick') tick ??= setImmediate(flush)
      else frame ??= setTimeout(flush, FRAME_MS)
    },
    async *watch(after, signal) {
      const stop = Promise.withResolvers<undefined>()
      const end = (): void => {
        stop.resolve(undefined)
      }
      signal.addEventListener('abort', end, { once: true })
      try {
        for (let seq = after; !signal.aborted;) {
          const wait = news.promise
          const events = seq < lastSeq ? store.events.after(sessionId, seq, BATCH) : []
          for (const event of events) {
            seq = event.seq
            yield event
          }
          if (events.length === 0) await Promise.race([wait, stop.promise])
        }
      } finally {
        signal.removeEventListener('abort', end)
      }
    }
  }
}
