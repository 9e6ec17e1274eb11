// The event log of one session as its writer and its watchers use it: store first, then tell (design §3.3).
import type { EventDraft, SessionEvent } from '../../shared/event'
import type { Store } from '../store/store'

export interface EventLog {
  /**
   * Runs `work` as one transaction; the events it adds become visible to watchers when all of it is stored. `durable`: on the disk, not only
   * safe from a killed process. All of it happens at `at`. Throws what the store throws; nothing is stored or shown then.
   */
  commit<T>(work: (add: (draft: EventDraft) => SessionEvent) => T, durable?: boolean, at?: number): T
  readonly lastSeq: number
  /** Stored events after `after`, then those to come, until `signal` aborts. */
  readonly watch: (after: number, signal: AbortSignal) => AsyncGenerator<SessionEvent>
}

const BATCH = 500

export function openLog(store: Store, sessionId: string, now: () => number): EventLog {
  let lastSeq = store.events.lastSeq(sessionId)
  let news = Promise.withResolvers<undefined>()
  return {
    get lastSeq() {
      return lastSeq
    },
    commit(work, durable = false, at = now()) {
      let seq = lastSeq
      const all = (): ReturnType<typeof work> =>
        work((draft) => {
          const event = store.events.append(sessionId, at, draft)
          seq = event.seq
          return event
        })
      const value = durable ? store.writeDurably(all) : store.write(all)
      if (seq !== lastSeq) {
        lastSeq = seq
        news.resolve(undefined)
        news = Promise.withResolvers()
      }
      return value
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
