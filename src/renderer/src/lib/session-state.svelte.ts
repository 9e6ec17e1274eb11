// One session as this window sees it: a snapshot, then every event after it, folded in order. A cut continues after the last event that was
// seen; a gap is closed by a fresh snapshot while the old view stays on the screen (spec H5).
import { viewOf, withOlder } from '../../../shared/snapshot'
import { fold, type SessionView } from '../../../shared/view'
import { AGAIN, type Api, codeOf } from './api'
import { pause } from './pause'

const AFTER_CUT_MS = 300
/** Messages that one look back fetches. */
const OLDER = 400
const AFTER_GAP_MS = [0, 100, 500, 2_000]

export class SessionFollower {
  /** What to draw; changes at most once a frame, however many events come. */
  view = $state.raw<SessionView>()
  /** The session does not exist (any more). */
  missing = $state(false)

  /** Older messages are on their way. */
  loadingOlder = $state(false)

  readonly sessionId: string
  readonly #api: Api
  /** Where to go on from; undefined before the first snapshot and after a gap. */
  #newest: SessionView | undefined
  #frame: number | undefined
  #gaps = 0
  readonly #stop = new AbortController()

  constructor(api: Api, sessionId: string) {
    this.#api = api
    this.sessionId = sessionId
    void this.#follow()
  }

  close(): void {
    this.#stop.abort()
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame)
  }

  /** Fetches what comes before the oldest known message; true when there may be more. */
  async loadOlder(): Promise<void> {
    const first = this.#newest?.tree.path.items[0]
    if (!first || first.parentId === null || this.loadingOlder) return
    this.loadingOlder = true
    try {
      const page = await this.#api.sessions.older(
        { sessionId: this.sessionId, before: first.id, limit: OLDER },
        { ...AGAIN, signal: this.#stop.signal }
      )
      if (this.#newest) this.#show(withOlder(this.#newest, page))
    } catch {
      // the button stays, to try again
    } finally {
      this.loadingOlder = false
    }
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        const end = await this.#watch(this.#newest ?? (await this.#open()))
        await pause(end === 'gap' ? (AFTER_GAP_MS[this.#gaps++] ?? 2_000) : AFTER_CUT_MS, signal)
      } catch (error) {
        if (codeOf(error) === 'NOT_FOUND') {
          this.missing = true
          return
        }
        await pause(AFTER_CUT_MS, signal)
      }
    }
  }

  async #open(): Promise<SessionView> {
    const snapshot = await this.#api.sessions.open({ sessionId: this.sessionId }, { ...AGAIN, signal: this.#stop.signal })
    const view = viewOf(snapshot)
    this.#show(view)
    return view
  }

  /** Folds events onto `view` until the stream ends. A gap forgets where we were, so that the next round begins with a snapshot. */
  async #watch(from: SessionView): Promise<'cut' | 'gap'> {
    let view = from
    const input = { sessionId: this.sessionId, after: view.seq }
    for await (const event of await this.#api.sessions.watch(input, { signal: this.#stop.signal })) {
      if (event.seq > view.seq + 1) {
        this.#newest = undefined
        return 'gap'
      }
      if (event.seq > view.seq) this.#gaps = 0
      view = fold(this.#newest ?? view, event)
      this.#show(view)
      // the head went to a part of the tree that is not known here
      if (event.type === 'head' && view.tree.head !== null && view.tree.path.length === 0) {
        this.#newest = undefined
        return 'gap'
      }
    }
    return 'cut'
  }

  #show(view: SessionView): void {
    this.#newest = view
    if (this.#stop.signal.aborted) return
    if (!this.view) this.view = view
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined
      if (this.#newest && !this.#stop.signal.aborted) this.view = this.#newest
    })
  }
}
