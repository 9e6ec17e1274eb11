// Side branches: where each began, where it returns to, how it ended.
import type { SideBranch, SideEnding } from '../../../shared/session'
import type { Connection } from '../open/connection'

/** A side branch and how it ended. */
interface StoredSide extends SideBranch {
  readonly ending?: SideEnding
  readonly endedAt?: number
}
export interface SideTable {
  begin(sessionId: string, side: SideBranch): void
  end(id: string, ending: SideEnding, at: number): void
  /** Those that have not ended, oldest first. */
  open(sessionId: string): SideBranch[]
  /** Also those that have ended, oldest first. */
  all(sessionId: string): StoredSide[]
}

interface SideRow {
  id: string
  from_entry: string | null
  home: string | null
  name: string
  started_at: number
}
interface StoredRow extends SideRow {
  ending: string | null
  ended_at: number | null
}

export function sideTable(db: Connection): SideTable {
  const begin = db.prepare('insert into side (id, session_id, from_entry, home, name, started_at) values (?, ?, ?, ?, ?, ?)')
  const end = db.prepare('update side set ending = ?, ended_at = ? where id = ?')
  const open = db.prepare<[string], SideRow>(
    'select id, from_entry, home, name, started_at from side where session_id = ? and ended_at is null order by started_at, id'
  )
  const all = db.prepare<[string], StoredRow>(
    'select id, from_entry, home, name, started_at, ending, ended_at from side where session_id = ? order by started_at, id'
  )
  return {
    begin: (sessionId, s) => void begin.run(s.id, sessionId, s.from, s.home, s.name, s.startedAt),
    end: (id, ending, at) => void end.run(ending, at, id),
    open: (sessionId) => open.all(sessionId).map(toSide),
    all: (sessionId) =>
      all.all(sessionId).map(({ ending, ended_at, ...row }) => ({
        ...toSide(row),
        ...(ending !== null && ended_at !== null && { ending: ending as SideEnding, endedAt: ended_at })
      }))
  }
}

const toSide = ({ from_entry, started_at, ...row }: SideRow): SideBranch => ({ ...row, from: from_entry, startedAt: started_at })
