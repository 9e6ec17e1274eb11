// What the window knows of the app: its state and the list of sessions, kept by one subscription that survives cuts.
import type { AppEvent, AppState, ModelInfo } from '../../../shared/contract'
import type { Job, Session, Work } from '../../../shared/session'
import { AGAIN, type Api, type LinkState } from './api'
import { pause } from './pause'

const AFTER_CUT_MS = 400

const isBinned = (session: Session): boolean => session.binnedAt !== undefined

export class AppView {
  link = $state<LinkState>('connecting')
  app = $state.raw<AppState>()
  #all = $state.raw<readonly Session[]>([])
  /** Calls that wait or run now, of every session, in the order of their queues. */
  work = $state.raw<readonly Work[]>([])
  /** Commands that go on in the background, and those that ended lately. */
  jobs = $state.raw<readonly Job[]>([])

  /** Newest first. */
  readonly sessions = $derived(this.#all.filter((s) => !s.archived && !isBinned(s)).sort((a, b) => b.updatedAt - a.updatedAt))
  readonly archived = $derived(this.#all.filter((s) => s.archived && !isBinned(s)).sort((a, b) => b.updatedAt - a.updatedAt))
  /** In the bin, the newest there first. */
  readonly binned = $derived(this.#all.filter(isBinned).sort((a, b) => (b.binnedAt ?? 0) - (a.binnedAt ?? 0)))

  /** Sessions that wait for an answer of the person. */
  readonly waiting = $derived(this.sessions.filter((s) => s.state === 'waiting'))

  /** Follows the app until `signal` ends it. */
  async follow(api: Api, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        for await (const event of await api.app.watch(undefined, { signal })) this.accept(event)
      } catch {
        // a cut: the loop asks again, and the first event is the whole state
      }
      await pause(AFTER_CUT_MS, signal)
    }
  }

  accept(event: AppEvent): void {
    switch (event.type) {
      case 'app':
        this.app = event.app
        break
      case 'session':
        this.put([event.session])
        break
      case 'sessions':
        this.#all = [...this.archived, ...this.binned]
        this.put(event.sessions)
        break
      case 'work':
        this.work = event.work
        break
      case 'jobs':
        this.jobs = event.jobs
        break
    }
  }

  /** Adds or replaces sessions. */
  put(sessions: readonly Session[]): void {
    const ids = sessions.map((s) => s.id)
    this.#all = [...this.#all.filter((s) => !ids.includes(s.id)), ...sessions]
  }

  /** Asks for the archived sessions, which the subscription may leave out. */
  async loadArchived(api: Api): Promise<void> {
    this.put(await api.sessions.list({ archived: true }, AGAIN))
  }

  /** Asks for those in the bin. */
  async loadBinned(api: Api): Promise<void> {
    this.put(await api.sessions.list({ binned: true }, AGAIN))
  }

  /** A session that was deleted for good. */
  drop(id: string): void {
    this.#all = this.#all.filter((s) => s.id !== id)
  }

  session(id: string): Session | undefined {
    return this.#all.find((s) => s.id === id)
  }

  model(id: string): ModelInfo | undefined {
    return this.app?.models.find((m) => m.id === id)
  }
}
