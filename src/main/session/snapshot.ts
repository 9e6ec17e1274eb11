// A session for one who comes in the middle: stored rows as of one event number (spec H5). What is sent does not grow with the session: the newest
// part of the path, and of a run that goes on its present turn.
import type { Page, RunReport, Snapshot, TreeNode } from '../../shared/contract'
import type { SessionEvent } from '../../shared/event'
import type { Entry } from '../../shared/session'
import type { JournalCall, RunTable } from '../store/tables/runs'
import type { Desk } from './desk'

/** Entries of the path in a snapshot. */
const NEWEST = 400

export function snapshotOf(desk: Desk): Snapshot {
  const { id, scope, log, active } = desk
  const { store } = scope
  log.settle() // what is told must be stored; rows and events are read as of one moment then
  const { head, ...info } = store.sessions.find(id) ?? { ...desk.info, head: desk.head }
  const latest = active ? store.runs.find(active.run.id) : store.runs.latest(id)
  const firstSeq = latest?.firstSeq ?? 1
  return {
    ...pathPage(desk, head, NEWEST),
    seq: log.lastSeq,
    session: info,
    head,
    ...(latest && { run: latest.run }),
    approvals: store.runs.openApprovals(id),
    queue: store.inbox.waiting(id),
    notices: latest ? store.events.notices(id, firstSeq) : [],
    labels: store.sessions.labels(id),
    sides: store.sides.open(id),
    kept: desk.scope.undo.list(id),
    live: active ? presentTurn(desk, firstSeq) : []
  }
}

/** Entries before `before` on its path. Undefined when there is no such entry. */
export function olderPage(desk: Desk, before: string, limit: number): Page | undefined {
  const entry = desk.scope.store.entries.find(desk.id, before)
  return entry && pathPage(desk, entry.parentId, limit)
}

function pathPage({ id, scope }: Desk, end: string | null, limit: number): Page {
  const { entries } = scope.store
  const path: Entry[] = []
  let more = false
  for (const entry of entries.up(id, end)) {
    if (path.length === limit) {
      more = true
      break
    }
    path.push(entry)
  }
  path.reverse()
  const beside: Record<string, string[]> = {}
  const note = (parentId: string | null): void => {
    const children = entries.children(id, parentId)
    if (children.length > 1) beside[parentId ?? ''] = children
  }
  for (const entry of path) note(entry.parentId)
  note(end)
  return { entries: path, beside, more }
}

/** Events of the run's present turn, with the route before them: what came earlier shows in entries and rows. */
function presentTurn({ id, scope, log }: Desk, firstSeq: number): SessionEvent[] {
  const { events } = scope.store
  const turn = events.newest(id, 'turn_start', firstSeq)
  const route = events.newest(id, 'route', firstSeq)
  const from = turn?.seq ?? firstSeq
  const since = events.after(id, from - 1, log.lastSeq - from + 1)
  return route && route.seq < from ? [route, ...since] : since
}

/** The whole tree without its words. */
export function treeNodes({ id, scope }: Desk): TreeNode[] {
  const labels = scope.store.sessions.labels(id)
  return scope.store.entries.nodes(id).map((node) => {
    const label = labels[node.id]
    return label === undefined ? node : { ...node, label }
  })
}

export function runReports(id: string, runs: Pick<RunTable, 'list' | 'allCalls'>): RunReport[] {
  return runs.list(id).map(({ run }) => ({ run, calls: runs.allCalls(run.id).map(callState) }))
}

const callState = (call: JournalCall): RunReport['calls'][number] => ({
  callId: call.callId,
  turn: call.turn,
  name: call.name,
  state: call.result ? 'done' : call.dispatchedAt === undefined ? 'not_started' : 'unknown',
  ...(call.result && { code: call.result.code })
})

/** Stored events of one run, in order, read as they are asked for; undefined when the session has no such run. */
export function replayOf({ id, scope }: Pick<Desk, 'id' | 'scope'>, runId: string): Generator<SessionEvent> | undefined {
  const stored = scope.store.runs.find(runId)
  if (stored?.run.sessionId !== id) return undefined
  return (function* () {
    for (let seq = stored.firstSeq - 1; ;) {
      const events = scope.store.events.after(id, seq, 500)
      for (const event of events) {
        seq = event.seq
        if (event.runId === runId) yield event
        if (event.type === 'agent_end' && event.runId === runId) return
      }
      if (events.length === 0) return
    }
  })()
}
