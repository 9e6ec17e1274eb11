// Side branches: where each began, where it returns to, how it ended.
import type { SideBranch, SideEnding } from '../../../shared/session'
import type { Connection } from '../open/connection'

export interface SideTable {
  begin(sessionId: string, side: SideBranch): void
  end(id: string, ending: SideEnding, at: number): void
  /** Those that have not ended, oldest first. */
  open(sessionId: string): SideBranch[]
}

interface SideRow {
  id: string
  from_entry: string | null
  home: string | null
  name: string
  started_at: number
}

export function sideTable(db: Connection): SideTable {
  const begin = db.prepare('insert into side (id, session_id, from_entry, home, name, started_at) values (?, ?, ?, ?, ?, ?)')
  const end = db.prepare('update side set ending = ?, ended_at = ? where id = ?')
  const open = db.prepare<[string], SideRow>(
    'select id, from_entry, home, name, started_at from side where session_id = ? and ended_at is null order by started_at, id'
  )
  return {
    begin: (sessionId, s) => void begin.run(s.id, sessionId, s.from, s.home, s.name, s.startedAt),
    end: (id, ending, at) => void end.run(ending, at, id),
    open: (sessionId) =>
      open.all(sessionId).map(({ from_entry, started_at, ...row }) => ({ ...row, from: from_entry, startedAt: started_at }))
  }
}
