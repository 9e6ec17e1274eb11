// The event log of each session: numbered from 1 without gaps, append-only (spec H3, H4).
import type { EventDraft, SessionEvent } from '../../shared/event'
import type { Notice } from '../../shared/session'
import type { Connection } from './database'

export interface EventTable {
  /** Stores an event under the session's next number and returns it whole. */
  append(sessionId: string, at: number, draft: EventDraft): SessionEvent
  /** Events after `seq`, oldest first, at most `limit`. */
  after(sessionId: string, seq: number, limit: number): SessionEvent[]
  /** The newest number; 0 when there is none. */
  lastSeq(sessionId: string): number
  /** Notices since event `seq`, oldest first. */
  notices(sessionId: string, seq: number): Notice[]
}

interface EventRow {
  session_id: string
  seq: number
  at: number
  run_id: string | null
  turn: number | null
  type: string
  payload: string
}

export function eventTable(db: Connection): EventTable {
  const last = db.prepare<[string], { seq: number }>('select coalesce(max(seq), 0) as seq from event where session_id = ?')
  const insert = db.prepare('insert into event (session_id, seq, at, run_id, turn, type, payload) values (?, ?, ?, ?, ?, ?, ?)')
  const after = db.prepare<[string, number, number], EventRow>('select * from event where session_id = ? and seq > ? order by seq limit ?')
  const notices = db.prepare<[string, number], EventRow>(
    "select * from event where session_id = ? and seq >= ? and type = 'notice' order by seq"
  )
  const lastSeq = (sessionId: string): number => last.get(sessionId)?.seq ?? 0
  return {
    append: (sessionId, at, draft) => {
      const { type, runId, turn, ...payload } = draft
      const seq = lastSeq(sessionId) + 1
      insert.run(sessionId, seq, at, runId ?? null, turn ?? null, type, JSON.stringify(payload))
      return { ...draft, sessionId, seq, at }
    },
    after: (sessionId, seq, limit) => after.all(sessionId, seq, limit).map(toEvent),
    lastSeq,
    notices: (sessionId, seq) => notices.all(sessionId, seq).map(toEvent).flatMap(toNotice)
  }
}

const toEvent = (row: EventRow): SessionEvent =>
  ({
    ...(JSON.parse(row.payload) as object),
    type: row.type,
    sessionId: row.session_id,
    seq: row.seq,
    at: row.at,
    ...(row.run_id !== null && { runId: row.run_id }),
    ...(row.turn !== null && { turn: row.turn })
  }) as SessionEvent

const toNotice = (event: SessionEvent): Notice[] =>
  event.type === 'notice' ? [{ seq: event.seq, level: event.level, code: event.code, message: event.message }] : []
