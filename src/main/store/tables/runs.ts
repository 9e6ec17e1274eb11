// Runs, the journal of their calls, and the approvals they wait for: what recovery reads after a crash (design §4).
import type { ToolMessage } from '../../../shared/message'
import type { Answer, Approval, Run, RunState, Spent, StopCause } from '../../../shared/session'
import type { Connection } from '../open/connection'

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
  /** The entry that its first answer follows. */
  readonly base: string | null
}
/** An answered approval, as the call that waits for it needs it after a restart. */
interface GivenAnswer {
  readonly approval: Approval
  readonly answer: Answer
  /** What the tool's preview saw as `basis`. */
  readonly basis: string
}
export interface RunTable {
  insert(run: Run, firstSeq: number, base: string | null): void
  setState(id: string, state: RunState): void
  /** The turn that a run is in and what it has used. */
  setProgress(id: string, turn: number, spent: Spent | undefined): void
  end(id: string, state: RunState, cause: StopCause, at: number): void
  /** The newest run of a session. */
  latest(sessionId: string): StoredRun | undefined
  find(id: string): StoredRun | undefined
  /** Runs of a session, oldest first. */
  list(sessionId: string): StoredRun[]
  /** Runs that never ended, of all sessions: those of a process that is gone. */
  open(): StoredRun[]
  /** Nothing happens when it is there already: its run goes on after a restart. */
  addCall(runId: string, turn: number, position: number, callId: string, name: string): void
  dispatch(runId: string, callId: string, at: number): void
  /** `entryId`: the entry that holds the result; without one the journal keeps it until its entry can be stored. */
  finishCall(runId: string, callId: string, result: ToolMessage, entryId: string | undefined): void
  /** Calls of one turn in the order the model wrote them. */
  calls(runId: string, turn: number): JournalCall[]
  allCalls(runId: string): JournalCall[]
  /** The entry that holds the result of a call; undefined while it has none. */
  entryOf(runId: string, callId: string): string | undefined
  ask(approval: Approval, sessionId: string, basis: string): void
  /** What the preview of an approval saw as `basis`. */
  basis(approvalId: string): string
  /** The answer to the newest approval of a call; undefined when there is none or it expired. */
  given(runId: string, callId: string): GivenAnswer | undefined
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
  spent: string | null
  base: string | null
}
interface CallRow {
  call_id: string
  turn: number
  name: string
  dispatched_at: number | null
  result: string | null
}

export function runTable(db: Connection): RunTable {
  const insert = db.prepare(
    'insert into run (id, session_id, state, model, turn, first_seq, started_at, base) values (?, ?, ?, ?, ?, ?, ?, ?)'
  )
  const setProgress = db.prepare('update run set turn = ?, spent = coalesce(?, spent) where id = ?')
  const find = db.prepare<[string], RunRow>('select * from run where id = ?')
  const list = db.prepare<[string], RunRow>('select * from run where session_id = ? order by started_at, id')
  const setState = db.prepare('update run set state = ? where id = ?')
  const end = db.prepare('update run set state = ?, cause = ?, ended_at = ? where id = ?')
  const latest = db.prepare<[string], RunRow>('select * from run where session_id = ? order by started_at desc, id desc limit 1')
  const open = db.prepare<[], RunRow>('select * from run where ended_at is null order by started_at')
  const addCall = db.prepare('insert or ignore into call (run_id, call_id, turn, position, name) values (?, ?, ?, ?, ?)')
  const dispatch = db.prepare('update call set dispatched_at = ? where run_id = ? and call_id = ?')
  const finishCall = db.prepare('update call set result = ?, entry_id = ? where run_id = ? and call_id = ?')
  const CALLS = `select call.call_id, call.turn, call.name, call.dispatched_at, coalesce(entry.payload, call.result) as result
    from call left join entry on entry.id = call.entry_id where call.run_id = ?`
  const calls = db.prepare<[string, number], CallRow>(`${CALLS} and call.turn = ? order by call.position`)
  const allCalls = db.prepare<[string], CallRow>(`${CALLS} order by call.turn, call.position`)
  const entryOf = db.prepare<[string, string], { entry_id: string | null }>('select entry_id from call where run_id = ? and call_id = ?')
  const ask = db.prepare('insert into approval (id, session_id, run_id, request, basis, asked_at) values (?, ?, ?, ?, ?, ?)')
  const given = db.prepare<[string, string], { request: string; answer: string | null; basis: string | null }>(
    `select request, answer, basis from approval where run_id = ? and json_extract(request, '$.callId') = ? and closed_at is not null
     order by asked_at desc limit 1`
  )
  const answer = db.prepare('update approval set answer = ?, closed_at = ? where id = ? and closed_at is null')
  const basis = db.prepare<[string], { basis: string | null }>('select basis from approval where id = ?')
  const openApprovals = db.prepare<[string], { request: string }>(
    'select request from approval where session_id = ? and closed_at is null order by asked_at, id'
  )
  return {
    insert: (r, firstSeq, base) => void insert.run(r.id, r.sessionId, r.state, r.model, r.turn, firstSeq, r.startedAt, base),
    setState: (id, state) => void setState.run(state, id),
    setProgress: (id, turn, spent) => void setProgress.run(turn, spent ? JSON.stringify(spent) : null, id),
    find: (id) => {
      const row = find.get(id)
      return row && toRun(row)
    },
    list: (sessionId) => list.all(sessionId).map(toRun),
    end: (id, state, cause, at) => void end.run(state, JSON.stringify(cause), at, id),
    latest: (sessionId) => {
      const row = latest.get(sessionId)
      return row && toRun(row)
    },
    open: () => open.all().map(toRun),
    addCall: (runId, turn, position, callId, name) => void addCall.run(runId, callId, turn, position, name),
    dispatch: (runId, callId, at) => void dispatch.run(at, runId, callId),
    finishCall: (runId, callId, result, entryId) =>
      void finishCall.run(entryId === undefined ? JSON.stringify(result) : null, entryId ?? null, runId, callId),
    calls: (runId, turn) => calls.all(runId, turn).map(toCall),
    allCalls: (runId) => allCalls.all(runId).map(toCall),
    entryOf: (runId, callId) => entryOf.get(runId, callId)?.entry_id ?? undefined,
    ask: (a, sessionId, basis) => void ask.run(a.id, sessionId, a.runId, JSON.stringify(a), basis, a.askedAt),
    basis: (id) => basis.get(id)?.basis ?? '',
    given: (runId, callId) => {
      const row = given.get(runId, callId)
      if (row?.answer == null) return undefined
      return { approval: JSON.parse(row.request) as Approval, answer: JSON.parse(row.answer) as Answer, basis: row.basis ?? '' }
    },
    answer: (id, value, at) => answer.run(value ? JSON.stringify(value) : null, at, id).changes === 1,
    openApprovals: (sessionId) => openApprovals.all(sessionId).map((r) => JSON.parse(r.request) as Approval)
  }
}

const toRun = (row: RunRow): StoredRun => ({
  firstSeq: row.first_seq,
  base: row.base,
  run: {
    id: row.id,
    sessionId: row.session_id,
    state: row.state as RunState,
    model: row.model,
    turn: row.turn,
    startedAt: row.started_at,
    ...(row.cause !== null && { cause: JSON.parse(row.cause) as StopCause }),
    ...(row.ended_at !== null && { endedAt: row.ended_at }),
    ...(row.spent !== null && { spent: JSON.parse(row.spent) as Spent })
  }
})

const toCall = (row: CallRow): JournalCall => ({
  callId: row.call_id,
  turn: row.turn,
  name: row.name,
  ...(row.dispatched_at !== null && { dispatchedAt: row.dispatched_at }),
  ...(row.result !== null && { result: JSON.parse(row.result) as ToolMessage })
})
