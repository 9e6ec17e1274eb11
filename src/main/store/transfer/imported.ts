// What an import gives back, and the session that it makes.
import type { Session } from '../../../shared/session'
import { newId } from '../id'

export interface ImportOptions {
  /** Folder for the new session; default: what the file names, where it does. */
  readonly workspace?: string
  /** Folder when nothing names one. */
  readonly fallbackWorkspace: string
  readonly model: string
  /** Milliseconds since 1970. */
  readonly at: number
}
export interface BadLine {
  /** From 1. */
  readonly line: number
  readonly why: string
}
export interface Imported {
  readonly ok: true
  readonly session: Session
  readonly entries: number
  /** Lines that could not be read, or not as they are. */
  readonly bad: readonly BadLine[]
}
export interface NotASession {
  readonly ok: false
  readonly code: 'not_a_session'
  readonly message: string
}

export const newSession = ({ workspace, fallbackWorkspace, model, at }: ImportOptions, title: string): Session => ({
  id: newId(),
  title,
  workspace: workspace ?? fallbackWorkspace,
  model,
  archived: false,
  mode: 'ask',
  steerMode: 'one-at-a-time',
  followUpMode: 'one-at-a-time',
  createdAt: at,
  updatedAt: at,
  state: 'ready'
})
