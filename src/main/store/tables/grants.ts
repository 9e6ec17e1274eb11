// Rules that the person granted while answering (spec G3), until they are taken back.
import type { Grant, Rule } from '../../../shared/policy'
import type { Connection } from '../open/connection'

export interface GrantTable {
  add(grant: Grant): void
  /** Those that hold for a session: its own, and those of its workspace. Oldest first. */
  holding(sessionId: string, workspace: string): Grant[]
  /** All that were not taken back, newest first. */
  list(): Grant[]
  /** False when there is none of that id, or it was taken back before. */
  revoke(id: string, at: number): boolean
}

interface GrantRow {
  id: string
  workspace: string
  session_id: string | null
  rule: string
  at: number
}

export function grantTable(db: Connection): GrantTable {
  const add = db.prepare('insert into granted (id, workspace, session_id, rule, at) values (?, ?, ?, ?, ?)')
  const holding = db.prepare<[string, string], GrantRow>(
    'select * from granted where revoked_at is null and (session_id = ? or (session_id is null and workspace = ?)) order by at, id'
  )
  const list = db.prepare<[], GrantRow>('select * from granted where revoked_at is null order by at desc, id desc')
  const revoke = db.prepare('update granted set revoked_at = ? where id = ? and revoked_at is null')
  return {
    add: (g) => void add.run(g.id, g.workspace, g.sessionId ?? null, JSON.stringify(g.rule), g.grantedAt),
    holding: (sessionId, workspace) => holding.all(sessionId, workspace).map(toGrant),
    list: () => list.all().map(toGrant),
    revoke: (id, at) => revoke.run(at, id).changes === 1
  }
}

const toGrant = (row: GrantRow): Grant => ({
  id: row.id,
  workspace: row.workspace,
  ...(row.session_id !== null && { sessionId: row.session_id }),
  rule: JSON.parse(row.rule) as Rule,
  grantedAt: row.at
})
