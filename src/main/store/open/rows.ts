// Rows of a damaged database, past what cannot be read: one range after another, and a range that fails in halves, so that a broken page costs the
// rows on it and no more.
import type { Connection } from './connection'

export type Row = Record<string, unknown>

const BATCH = 256
/** Ranges in a row without a row, after which a table whose end cannot be found is over. */
const BARREN = 20

/** Rows of a table by their row ids, in that order. */
export function byRowid(db: Connection, table: string): Generator<Row> {
  const read = attempt(() => db.prepare<[number, number], Row>(`select * from ${table} where rowid between ? and ?`))
  const last = attempt(() => db.prepare<[], number>(`select coalesce(max(rowid), 0) from ${table}`).pluck().get())
  return ranges((from, to) => read?.all(from, to) ?? [], read ? last : 0)
}

/** Rows of a table without row ids that belong to `owner`, by a whole number that is its second key. */
export function byNumber(db: Connection, table: string, [column, id]: readonly [string, string], key: string): Generator<Row> {
  const read = attempt(() =>
    db.prepare<[string, number, number], Row>(`select * from ${table} where ${column} = ? and ${key} between ? and ?`)
  )
  const last = attempt(() =>
    db.prepare<[string], number>(`select coalesce(max(${key}), 0) from ${table} where ${column} = ?`).pluck().get(id)
  )
  return ranges((from, to) => read?.all(id, from, to) ?? [], read ? last : 0)
}

/** The few rows of a table that belong to `owner`: all of them, or those before the first that cannot be read. */
export function* byOwner(db: Connection, table: string, owner: readonly [column: string, id: string]): Generator<Row> {
  try {
    yield* db.prepare(`select * from ${table} where ${owner[0]} = ?`).iterate(owner[1]) as Iterable<Row>
  } catch {
    // the rest of them is lost
  }
}

type Read = (from: number, to: number) => Row[]

function* ranges(read: Read, last: number | undefined): Generator<Row> {
  let barren = 0
  for (let from = 0; last === undefined ? barren < BARREN : from <= last; from += BATCH) {
    barren++
    for (const row of range(read, from, from + BATCH - 1)) {
      barren = 0
      yield row
    }
  }
}

function range(read: Read, from: number, to: number): Row[] {
  const rows = attempt(() => read(from, to))
  if (rows) return rows
  if (from === to) return []
  const middle = Math.floor((from + to) / 2)
  return [...range(read, from, middle), ...range(read, middle + 1, to)]
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
