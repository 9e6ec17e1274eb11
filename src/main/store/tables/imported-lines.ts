// Lines of imported session files, as they were.
import type { Connection } from '../open/connection'

interface ImportedLine {
  readonly n: number
  /** With its line end. */
  readonly line: string
  /** The entry that it became; undefined for the header and for what could not be read. */
  readonly entryId: string | undefined
  /** The entry's id in the file. */
  readonly foreignId: string | undefined
}
export interface ImportedLineTable {
  add(sessionId: string, line: ImportedLine): void
  /** In the order of the file. */
  all(sessionId: string): ImportedLine[]
}

interface LineRow {
  n: number
  line: string
  entry_id: string | null
  foreign_id: string | null
}

export function importedLineTable(db: Connection): ImportedLineTable {
  const add = db.prepare('insert into imported_line (session_id, n, entry_id, foreign_id, line) values (?, ?, ?, ?, ?)')
  const all = db.prepare<[string], LineRow>('select n, line, entry_id, foreign_id from imported_line where session_id = ? order by n')
  return {
    add: (sessionId, l) => void add.run(sessionId, l.n, l.entryId ?? null, l.foreignId ?? null, l.line),
    all: (sessionId) =>
      all
        .all(sessionId)
        .map(({ entry_id, foreign_id, ...row }) => ({ ...row, entryId: entry_id ?? undefined, foreignId: foreign_id ?? undefined }))
  }
}
