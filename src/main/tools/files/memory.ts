// What a session has read of a file, so that it never edits one that somebody else changed since. Lives as long as the process: a file that was read
// before a restart counts as one that was not read.
import { hash } from 'node:crypto'

/** What a session knows of a file: `same`, `changed` since it read or wrote it, or it was `unread`. */
export type Known = 'same' | 'changed' | 'unread'

export interface FileMemory {
  /** The session has seen the whole of these bytes. */
  note(sessionId: string, path: string, bytes: Uint8Array): void
  forget(sessionId: string, path: string): void
  known(sessionId: string, path: string, bytes: Uint8Array): Known
}

/** Files that are remembered, of all sessions; the ones read longest ago are forgotten first. */
const MOST = 20_000

export function createFileMemory(): FileMemory {
  const seen = new Map<string, string>()
  const keyOf = (sessionId: string, path: string): string => `${sessionId}\0${path}`
  return {
    note(sessionId, path, bytes) {
      const key = keyOf(sessionId, path)
      seen.delete(key)
      seen.set(key, digestOf(bytes))
      for (const oldest of seen.keys()) {
        if (seen.size <= MOST) break
        seen.delete(oldest)
      }
    },
    forget: (sessionId, path) => void seen.delete(keyOf(sessionId, path)),
    known(sessionId, path, bytes) {
      const digest = seen.get(keyOf(sessionId, path))
      return digest === undefined ? 'unread' : digest === digestOf(bytes) ? 'same' : 'changed'
    }
  }
}

export const digestOf = (bytes: Uint8Array): string => hash('sha256', bytes, 'base64url')
