// What is true of the whole app, pushed to every window: the state first, then only what changed. Changes are gathered, so a download that
// reports a thousand times a second costs twenty messages.
import type { AppEvent, AppState } from '../../shared/contract'
import type { Session } from '../../shared/session'

export interface Feed {
  readonly state: AppState
  update(change: Partial<AppState>): void
  readonly sessionChanged: (session: Session) => void
  /** Ends when `signal` aborts. */
  watch(signal: AbortSignal): AsyncGenerator<AppEvent>
}

const GATHER_MS = 50

export function createFeed(initial: AppState, sessions: () => Session[]): Feed {
  let state = initial
  const watchers = new Set<{ app: boolean; sessions: Map<string, Session>; wake: () => void }>()
  return {
    get state() {
      return state
    },
    update(change) {
      state = { ...state, ...change }
      for (const w of watchers) {
        w.app = true
        w.wake()
      }
    },
    sessionChanged(session) {
      for (const w of watchers) {
        w.sessions.set(session.id, session)
        w.wake()
      }
    },
    async *watch(signal) {
      let news = Promise.withResolvers<undefined>()
      const watcher = {
        app: false,
        sessions: new Map<string, Session>(),
        wake: () => {
          news.resolve(undefined)
        }
      }
      watchers.add(watcher)
      signal.addEventListener('abort', watcher.wake, { once: true })
      try {
        yield { type: 'app', app: state }
        yield { type: 'sessions', sessions: sessions() }
        while (!signal.aborted) {
          await news.promise
          await new Promise((resolve) => setTimeout(resolve, GATHER_MS))
          news = Promise.withResolvers()
          const changed = [...watcher.sessions.values()]
          const appChanged = watcher.app
          watcher.app = false
          watcher.sessions.clear()
          if (appChanged) yield { type: 'app', app: state }
          for (const session of changed) yield { type: 'session', session }
        }
      } finally {
        watchers.delete(watcher)
        signal.removeEventListener('abort', watcher.wake)
      }
    }
  }
}
