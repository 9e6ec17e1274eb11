// Runs, the journal of their calls, and the approvals they wait for: what recovery reads after a crash (design §4).
import type { ToolMessage } from '../../shared/message'
import type { Answer, Approval, Run, RunState, StopCause } from '../../shared/session'
import type { Connection } from './database'

/** A call as the journal knows it: not started (no `dispatchedAt`), unknown (dispatched, no result), or done. */
export interface JournalCall {
  readonly callId: string
  readonly turn: number
  readonly name: string
  readonly dispatchedAt?: number
  readonly result?: ToolMessage
}
export interface StoredRun {
  readonly run: Run
  /** Number of the event that began it. */
  readonly firstSeq: number
}
export interface RunTable {
  insert(run: Run, firstSeq: number): void
  setState(id: string, state: RunState): void
  setTurn(id: string, turn: number): void
  end(id: string, state: RunState, cause: StopCause, at: number): void
  /** The newest run of a session. */
  latest(sessionId: string): StoredRun | undefined
  /** Runs that never ended, of all sessions: those of a process that is gone. */
  open(): StoredRun[]
  addCall(runId: string, turn: number, position: number, callId: string, name: string): void
  dispatch(runId: string, callId: string, at: number): void
  finishCall(runId: string, callId: string, result: ToolMessage): void
  /** Calls of one turn in the order the model wrote them. */
  calls(runId: string, turn: number): JournalCall[]
  ask(approval: Approval, sessionId: string): void
  /** Closes an approval; without an answer it expired. False when it was closed already. */
  answer(approvalId: string, answer: Answer | undefined, at: number): boolean
  /** Approvals of a session that are still open, oldest first. */
  openApprovals(sessionId: string): Approval[]
}

interface RunRow {
  id: string
  session_id: string
  state: string
  cause: string | null
  model: string
  turn: number
  first_seq: number
  started_at: number
  ended_at: number | null
}
interface CallRow {
  call_id: string
  turn: number
  name: string
  dispatched_at: number | null
  result: string | null
}

export function runTable(db: Connection): RunTable {
  const insert = db.prepare('insert into run (id, session_id, state, model, turn, first_seq, started_at) values (?, ?, ?, ?, ?, ?, ?)')
  const setState = db.prepare('update run set state = ? where id = ?')
  const setTurn = db.prepare('update run set turn = ? where id = ?')
  const end = db.prepare('update run set state = ?, cause = ?, ended_at = ? where id = ?')
  const latest = db.prepare<[string], RunRow>('select * from run where session_id = ? order by started_at desc, id desc limit 1')
  const open = db.prepare<[], RunRow>('select * from run where ended_at is null order by started_at')
  const addCall = db.prepare('insert into call (run_id, call_id, turn, position, name) values (?, ?, ?, ?, ?)')
  const dispatch = db.prepare('update call set dispatched_at = ? where run_id = ? and call_id = ?')
  const finishCall = db.prepare('update call set result = ? where run_id = ? and call_id = ?')
  const calls = db.prepare<[string, number], CallRow>('select * from call where run_id = ? and turn = ? order by position')
  const ask = db.prepare('insert into approval (id, session_id, run_id, request, asked_at) values (?, ?, ?, ?, ?)')
  const answer = db.prepare('update approval set answer = ?, closed_at = ? where id = ? and closed_at is null')
  const openApprovals = db.prepare<[string], { request: string }>(
    'select request from approval where session_id = ? and closed_at is null order by asked_at, id'
  )
  return {
    insert: (r, firstSeq) => void insert.run(r.id, r.sessionId, r.state, r.model, r.turn, firstSeq, r.startedAt),
    setState: (id, state) => void setState.run(state, id),
    setTurn: (id, turn) => void setTurn.run(turn, id),
    end: (id, state, cause, at) => void end.run(state, JSON.stringify(cause), at, id),
    latest: (sessionId) => {
      const row = latest.get(sessionId)
      return row && toRun(row)
    },
    open: () => open.all().map(toRun),
    addCall: (runId, turn, position, callId, name) => void addCall.run(runId, callId, turn, position, name),
    dispatch: (runId, callId, at) => void dispatch.run(at, runId, callId),
    finishCall: (runId, callId, result) => void finishCall.run(JSON.stringify(result), runId, callId),
    calls: (runId, turn) => calls.all(runId, turn).map(toCall),
    ask: (approval, sessionId) => void ask.run(approval.id, sessionId, approval.runId, JSON.stringify(approval), approval.askedAt),
    answer: (id, value, at) => answer.run(value ? JSON.stringify(value) : null, at, id).changes === 1,
    openApprovals: (sessionId) => openApprovals.all(sessionId).map((r) => JSON.parse(r.request) as Approval)
  }
}

const toRun = (row: RunRow): StoredRun => ({
  firstSeq: row.first_seq,
  run: {
    id: row.id,
    sessionId: row.session_id,
    state: row.state as RunState,
    model: row.model,
    turn: row.turn,
    startedAt: row.started_at,
    ...(row.cause !== null && { cause: JSON.parse(row.cause) as StopCause }),
    ...(row.ended_at !== null && { endedAt: row.ended_at })
  }
})

const toCall = (row: CallRow): JournalCall => ({
  callId: row.call_id,
  turn: row.turn,
  name: row.name,
  ...(row.dispatched_at !== null && { dispatchedAt: row.dispatched_at }),
  ...(row.result !== null && { result: JSON.parse(row.result) as ToolMessage })
})
