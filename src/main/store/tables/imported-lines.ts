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
  /** The same, read as it is asked: a file may be large. */
  walk(sessionId: string): Generator<ImportedLine>
}

interface LineRow {
  n: number
  line: string
  entry_id: string | null
  foreign_id: string | null
}

/** Lines that are read at once. */
const BATCH = 256

export function importedLineTable(db: Connection): ImportedLineTable {
  const add = db.prepare('insert into imported_line (session_id, n, entry_id, foreign_id, line) values (?, ?, ?, ?, ?)')
  const after = db.prepare<[string, number, number], LineRow>(
    'select n, line, entry_id, foreign_id from imported_line where session_id = ? and n > ? order by n limit ?'
  )
  function* walk(sessionId: string): Generator<ImportedLine> {
    for (let n = 0; ;) {
      const rows = after.all(sessionId, n, BATCH)
      for (const { entry_id, foreign_id, ...row } of rows)
        yield { ...row, entryId: entry_id ?? undefined, foreignId: foreign_id ?? undefined }
      const last = rows.at(-1)
      if (!last) return
      n = last.n
    }
  }
  return {
    add: (sessionId, l) => void add.run(sessionId, l.n, l.entryId ?? null, l.foreignId ?? null, l.line),
    all: (sessionId) => Array.from(walk(sessionId)),
    walk
  }
}
