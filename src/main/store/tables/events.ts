// The event log of each session: numbered from 1 without gaps, append-only (spec H3, H4).
//
// What an entry or a result says is stored with it alone: `message_end`, `entry` and `tool_end` are kept as pointers and made whole when read.
import type { EventDraft, SessionEvent } from '../../../shared/event'
import type { ToolMessage } from '../../../shared/message'
import type { Notice } from '../../../shared/session'
import type { Connection } from '../open/connection'
import { toEntry } from './entries'

export interface EventTable {
  /** Stores an event under the number `seq`, which must be the session's newest plus one, and returns it whole. */
  append(sessionId: string, seq: number, at: number, draft: EventDraft): SessionEvent
  /** Events after `seq`, oldest first, at most `limit`. */
  after(sessionId: string, seq: number, limit: number): SessionEvent[]
  /** The newest number; 0 when there is none. */
  lastSeq(sessionId: string): number
  /** The newest event of a type, not older than `seq`. */
  newest(sessionId: string, type: SessionEvent['type'], seq: number): SessionEvent | undefined
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
interface EntryRow {
  id: string
  session_id: string
  parent_id: string | null
  at: number
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
  const newest = db.prepare<[string, number, string], EventRow>(
    'select * from event where session_id = ? and seq >= ? and type = ? order by seq desc limit 1'
  )
  const entry = db.prepare<[string, string], EntryRow>('select * from entry where session_id = ? and id = ?')
  const call = db.prepare<[string, string], { result: string | null; payload: string | null }>(
    'select call.result, entry.payload from call left join entry on entry.id = call.entry_id where call.run_id = ? and call.call_id = ?'
  )

  function whole(sessionId: string, runId: string | null, stored: Stored): object {
    if (stored.entryRef !== undefined) {
      const row = entry.get(sessionId, stored.entryRef)
      return row ? { entry: toEntry(row) } : {}
    }
    if (stored.resultRef !== undefined) {
      const row = call.get(runId ?? '', stored.resultRef)
      const result = row?.payload ?? row?.result
      const { callId, code, text, durationMs } = result == null ? lost(stored.resultRef) : (JSON.parse(result) as ToolMessage)
      return { callId, code, text, durationMs }
    }
    return stored
  }
  const toEvent = (row: EventRow): SessionEvent =>
    ({
      ...whole(row.session_id, row.run_id, JSON.parse(row.payload) as Stored),
      type: row.type,
      sessionId: row.session_id,
      seq: row.seq,
      at: row.at,
      ...(row.run_id !== null && { runId: row.run_id }),
      ...(row.turn !== null && { turn: row.turn })
    }) as SessionEvent

  return {
    append: (sessionId, seq, at, draft) => {
      insert.run(sessionId, seq, at, draft.runId ?? null, draft.turn ?? null, draft.type, payloadOf(draft))
      return { ...draft, sessionId, seq, at }
    },
    after: (sessionId, seq, limit) => after.all(sessionId, seq, limit).map(toEvent),
    lastSeq: (sessionId) => last.get(sessionId)?.seq ?? 0,
    newest: (sessionId, type, seq) => {
      const row = newest.get(sessionId, seq, type)
      return row && toEvent(row)
    },
    notices: (sessionId, seq) => notices.all(sessionId, seq).map(toEvent).flatMap(toNotice)
  }
}

interface Stored {
  readonly entryRef?: string
  readonly resultRef?: string
}

function payloadOf(draft: EventDraft): string {
  if (draft.type === 'message_end' || draft.type === 'entry') return JSON.stringify({ entryRef: draft.entry.id })
  if (draft.type === 'tool_end') return JSON.stringify({ resultRef: draft.callId })
  const { type, runId, turn, ...payload } = draft
  return JSON.stringify(payload)
}

/** The journal has no such call: a row of a damaged file that was saved in part. */
const lost = (callId: string): ToolMessage => ({ role: 'tool', callId, name: '', code: 'lost', text: '', durationMs: 0 })

const toNotice = (event: SessionEvent): Notice[] =>
  event.type === 'notice' ? [{ seq: event.seq, level: event.level, code: event.code, message: event.message }] : []
