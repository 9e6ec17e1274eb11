// What the API is made of; the composition root fills it in.
import type { AppState, EngineState, PolicyTest, PolicyVerdict, StarterState } from '../../shared/contract'
import type { Grant, PolicyState } from '../../shared/policy'
import type { Job, Session } from '../../shared/session'
import type { UndoUsage } from '../../shared/undo'
import type { Outcome } from '../session/scope'
import type { Sessions } from '../session/sessions'
import type { ExportFormat } from '../store/transfer'
import type { BadLine } from '../store/transfer/imported'
import type { Feed } from './feed'
import type { TourLanguage } from './tour'

export interface NewSessionInput {
  readonly title?: string | undefined
  readonly workspace?: string | undefined
  readonly model?: string | undefined
  readonly tour?: TourLanguage | undefined
}
/** What an import made. */
interface ImportReport {
  readonly session: Session
  readonly entries: number
  readonly bad: BadLine[]
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
  /** Pieces of the file; none when there is no such session. */
  exportSession(id: string, format: ExportFormat): Iterable<string>
  importSession(input: { text: string; workspace?: string | undefined }): Outcome<ImportReport> | { ok: false; message: string }
  readonly policy: {
    /** Reads the file again. */
    show(): PolicyState
    /** What would be decided of a call, part by part. Fails for a tool that does not exist or arguments that do not fit. */
    test(input: PolicyTest): { ok: true; value: PolicyVerdict } | { ok: false; message: string }
    grants(): Grant[]
    revoke(grantId: string): boolean
  }
  readonly undo: { usage(): UndoUsage; clear(): UndoUsage }
  readonly jobs: {
    read(jobId: string, lines: number): { job: Job; text: string } | undefined
    stop(jobId: string): Promise<Job | undefined>
  }
  /** Lines of a whole output from `from` (1 is the first), without the secrets in it. Undefined: there is none of that name any more. */
  readOutput(ref: string, from: number, lines: number): Promise<{ text: string; more: boolean; bytes: number } | undefined>
  /** Brings the host before the person's eyes. */
  show(): { url?: string; host: string }
}
