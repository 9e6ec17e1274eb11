// What is true of the whole app, pushed to every window: the state first, then only what changed. Changes are gathered, so a download that
// reports a thousand times a second costs twenty messages.
import type { AppEvent, AppState } from '../../shared/contract'
import type { Job, Session, Work } from '../../shared/session'

export interface Feed {
  readonly state: AppState
  update(change: Partial<AppState>): void
  readonly sessionChanged: (session: Session) => void
  /** What waits or runs, or the background jobs, are others now. */
  readonly workChanged: () => void
  readonly jobsChanged: () => void
  /** Ends when `signal` aborts. */
  watch(signal: AbortSignal): AsyncGenerator<AppEvent>
}

const GATHER_MS = 50

/** What is read when a window is told. */
interface Sources {
  sessions(): Session[]
  work(): Work[]
  jobs(): Job[]
}
type Part = 'app' | 'work' | 'jobs'

export function createFeed(initial: AppState, sources: Sources): Feed {
  let state = initial
  const watchers = new Set<{ parts: Set<Part>; sessions: Map<string, Session>; wake: () => void }>()
  const told = (part: Part) => (): void => {
    for (const w of watchers) {
      w.parts.add(part)
      w.wake()
    }
  }
  return {
    get state() {
      return state
    },
    update(change) {
      state = { ...state, ...change }
      told('app')()
    },
    workChanged: told('work'),
    jobsChanged: told('jobs'),
    sessionChanged(session) {
      for (const w of watchers) {
        w.sessions.set(session.id, session)
        w.wake()
      }
    },
    async *watch(signal) {
      let news = Promise.withResolvers<undefined>()
      const watcher = {
        parts: new Set<Part>(),
        sessions: new Map<string, Session>(),
        wake: () => {
          news.resolve(undefined)
        }
      }
      watchers.add(watcher)
      signal.addEventListener('abort', watcher.wake, { once: true })
      try {
        yield { type: 'app', app: state }
        yield { type: 'sessions', sessions: sources.sessions() }
        yield { type: 'work', work: sources.work() }
        yield { type: 'jobs', jobs: sources.jobs() }
        while (!signal.aborted) {
          await news.promise
          await new Promise((resolve) => setTimeout(resolve, GATHER_MS))
          news = Promise.withResolvers()
          const changed = [...watcher.sessions.values()]
          const parts = new Set(watcher.parts)
          watcher.parts.clear()
          watcher.sessions.clear()
          if (parts.has('app')) yield { type: 'app', app: state }
          if (parts.has('work')) yield { type: 'work', work: sources.work() }
          if (parts.has('jobs')) yield { type: 'jobs', jobs: sources.jobs() }
          for (const session of changed) yield { type: 'session', session }
        }
      } finally {
        watchers.delete(watcher)
        signal.removeEventListener('abort', watcher.wake)
      }
    }
  }
}
