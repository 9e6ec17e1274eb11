// What the API is made of; the composition root fills it in.
import type { AppState, EngineState, StarterState } from '../../shared/contract'
import type { Session } from '../../shared/session'
import type { Sessions } from '../session/sessions'
import type { Feed } from './feed'
import type { TourLanguage } from './tour'

export interface NewSessionInput {
  readonly title?: string | undefined
  readonly workspace?: string | undefined
  readonly model?: string | undefined
  readonly tour?: TourLanguage | undefined
}
export interface Core {
  readonly feed: Feed
  readonly sessions: Sessions
  /** Fails when the workspace is no folder. */
  createSession(input: NewSessionInput): Promise<{ ok: true; value: Session } | { ok: false; message: string }>
  /** What a client is told of an error that a request met; unexpected ones reach the log here. */
  explain(error: unknown): unknown
  refresh(): Promise<AppState>
  fetchStarter(): Promise<StarterState>
  restartEngine(): Promise<EngineState>
}
