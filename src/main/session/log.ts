// The event log of one session as its writer and its watchers use it: store first, then tell (design §3.3).
//
// An event is stored at once (`commit`) or soon (`defer`): with the next transaction, whoever makes it, or a frame later. The order is always
// the order in which they came. When the disk refuses, what waits stays and is tried again until there is room: nothing is told before it is
// kept, and nothing is forgotten (docs/decisions/007).
import { setTimeout as sleep } from 'node:timers/promises'
import type { EventDraft, SessionEvent } from '../../shared/event'
import type { Store } from '../store/store'

interface Deferred {
  draft: EventDraft
  /** The rows that belong to the event, in the same transaction. */
  readonly row?: (() => void) | undefined
  /** `tick`: as soon as what runs now has run, so that what comes at once is one transaction. Default: a frame. */
  readonly within?: 'tick' | undefined
}

export interface EventLog {
  /**
   * Runs `work` as one transaction, after what was deferred; the events it adds become visible to watchers when all of it is stored. All of it
   * happens at `at`. Throws what the store throws; nothing is stored or shown then. `work` must be able to run again.
   */
  commit<T>(work: (add: Add) => T, at?: number): T
  /** The same; when the disk refuses, waits and tries again until it is done, or until `signal` aborts (it then throws what the store threw). */
  persist(work: (add: Add) => void, signal: AbortSignal): void | Promise<void>
  /** True while the disk refuses. */
  readonly troubled: boolean
  /** Stores an event within a frame, or sooner when many wait. `merge` may join it with one that waits already: the newest for which it returns a draft. */
  defer(event: Deferred, merge?: (waiting: EventDraft, newest: boolean) => EventDraft | undefined): void
  /** Stores what waits, if the disk takes it. */
  settle(): void
  /** Gives up what waits. */
  drop(): void
  readonly lastSeq: number
  /** Stored events after `after`, then those to come, until `signal` aborts. */
  readonly watch: (after: number, signal: AbortSignal) => AsyncGenerator<SessionEvent>
}
type Add = (draft: EventDraft) => SessionEvent

/** Told when the disk refuses and when it takes things again. */
export interface StorageReport {
  readonly trouble: (error: unknown) => void
  readonly well: () => void
}

const BATCH = 500
/** A third of what is promised for streamed text (spec S5). */
const FRAME_MS = 33
const AGAIN_MS = 500
/** A run of nothing but promises lets no timer fire: what waits is then stored when there is so much of it, or when it is a frame old. */
const MOST_WAITING = 64
/** Newest events kept in memory while somebody watches, so that watchers need not read them back. */
const RECENT = 512

/** Faults of the disk that may pass: no room, not writable, not readable, held by another program. */
const isStorageFault = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^SQLITE_(FULL|IOERR|BUSY|READONLY|CANTOPEN)/.test(String(error.code))

/** Another program holds the database. */
export const isBusy = (error: unknown): boolean => error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')

export function openLog(store: Store, sessionId: string, now: () => number, storage: StorageReport): EventLog {
  let lastSeq = store.events.lastSeq(sessionId)
  let news = Promise.withResolvers<undefined>()
  let waiting: Deferred[] = []
  let frame: NodeJS.Timeout | undefined
  let tick: NodeJS.Immediate | undefined
  let waitingSince = 0
  let watchers = 0
  let recent: SessionEvent[] = []
  let troubled = false

  const drop = (): void => {
    clearTimeout(frame)
    clearImmediate(tick)
    frame = tick = undefined
    waiting = []
  }
  const commit: EventLog['commit'] = (work, at = now()) => {
    const added: SessionEvent[] = []
    const add: Add = (draft) => {
      const event = store.events.append(sessionId, lastSeq + added.length + 1, at, draft)
      added.push(event)
      return event
    }
    let value: ReturnType<typeof work>
    try {
      value = store.write(() => {
        for (const { draft, row } of waiting) {
          row?.()
          add(draft)
        }
        return work(add)
      })
    } catch (error) {
      if (isStorageFault(error)) {
        troubled = true
        storage.trouble(error)
        frame ??= waiting.length > 0 ? setTimeout(flush, AGAIN_MS) : undefined
      }
      throw error
    }
    if (troubled) storage.well()
    troubled = false
    drop()
    if (added.length > 0) {
      lastSeq += added.length
      if (watchers > 0) {
        recent.push(...added)
        if (recent.length > 2 * RECENT) recent = recent.slice(-RECENT)
        news.resolve(undefined)
        news = Promise.withResolvers()
      }
    }
    return value
  }
  const flush = (): void => {
    clearTimeout(frame)
    clearImmediate(tick)
    frame = tick = undefined
    try {
      commit(() => undefined)
    } catch (error) {
      if (!isStorageFault(error)) drop() // a fault of the program: told by the next commit, and never tried for ever
    }
  }
  const retry = async (work: (add: Add) => void, signal: AbortSignal, fault: unknown): Promise<void> => {
    for (let error = fault; ;) {
      if (signal.aborted) throw error
      await sleep(AGAIN_MS, undefined, { signal }).catch(() => undefined)
      try {
        commit(work)
        return
      } catch (next) {
        if (!isStorageFault(next)) throw next
        error = next
      }
    }
  }
  const since = (seq: number): SessionEvent[] => {
    if (seq >= lastSeq) return []
    const first = recent[0]
    return first && first.seq <= seq + 1 ? recent.slice(seq + 1 - first.seq) : store.events.after(sessionId, seq, BATCH)
  }
  return {
    get lastSeq() {
      return lastSeq
    },
    get troubled() {
      return troubled
    },
    commit,
    persist(work, signal) {
      try {
        commit(work)
        return undefined
      } catch (error) {
        if (!isStorageFault(error)) throw error
        return retry(work, signal, error)
      }
    },
    settle() {
      if (waiting.length > 0) flush()
    },
    drop,
    defer(event, merge) {
      for (let i = waiting.length - 1; merge && i >= 0; i--) {
        const old = waiting[i] as Deferred
        const merged = merge(old.draft, i === waiting.length - 1)
        if (!merged) continue
        old.draft = merged
        return
      }
      const now = performance.now()
      if (waiting.length === 0) waitingSince = now
      waiting.push({ ...event })
      if (troubled) frame ??= setTimeout(flush, AGAIN_MS)
      else if (waiting.length >= MOST_WAITING || now - waitingSince > FRAME_MS) flush()
      else if (event.within === 'tick') tick ??= setImmediate(flush)
      else frame ??= setTimeout(flush, FRAME_MS)
    },
    async *watch(after, signal) {
      const stop = Promise.withResolvers<undefined>()
      const end = (): void => {
        stop.resolve(undefined)
      }
      signal.addEventListener('abort', end, { once: true })
      watchers++
      try {
        for (let seq = after; !signal.aborted;) {
          const wait = news.promise
          const events = since(seq)
          for (const event of events) {
            seq = event.seq
            yield event
          }
          if (events.length === 0) await Promise.race([wait, stop.promise])
        }
      } finally {
        if (--watchers === 0) recent = []
        signal.removeEventListener('abort', end)
      }
    }
  }
}
