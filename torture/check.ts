// What must hold of a data folder whose process was killed (design §3): each broken rule is a sentence.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { contextAt } from '../src/main/session/context/context'
import { openHarness, scripted } from '../test/support/harness'
import type { SessionEvent } from '../src/shared/event'
import { toArray } from '../src/shared/list'
import { callsOf } from '../src/shared/message'
import { viewOf } from '../src/shared/snapshot'
import { emptyView, fold, type SessionView } from '../src/shared/view'

/** What a killed process had said before. */
export interface Said {
  readonly shown: readonly SessionEvent[]
  readonly accepted: readonly { readonly sessionId: string; readonly itemId: string; readonly text: string }[]
  readonly answered: readonly { readonly approvalId: string }[]
}
export interface Checked {
  readonly broken: readonly string[]
  readonly events: number
  readonly entries: number
  /** Calls whose outcome the kill left unknown, so far. */
  readonly unknown: number
  /** Runs that wait for a person over the restart. */
  readonly parked: number
}

/** Opens the folder as a start does, recovery included, and looks at everything. */
export async function check(home: string, workspace: string, effects: string, said: Said): Promise<Checked> {
  const broken: string[] = []
  const rule = (holds: boolean, what: string): void => {
    if (!holds) broken.push(what)
  }
  const h = openHarness(scripted('say: x'), { home, workspace })
  const db = new Database(join(home, 'tau.db'), { readonly: true })
  try {
    rule(db.pragma('integrity_check', { simple: true }) === 'ok', 'the database is damaged')
    rule((db.pragma('foreign_key_check') as unknown[]).length === 0, 'a pointer leads nowhere')
    for (const { code, message } of h.store.notices) rule(code === 'torn_tail', `the store says: ${message}`)

    for (const event of said.shown) {
      const [stored] = h.store.events.after(event.sessionId, event.seq - 1, 1)
      rule(sameJson(stored, event), `event ${String(event.seq)} (${event.type}) was shown and is not stored as it was`)
    }
    const items = db.prepare<[string, string], { state: string }>('select state from inbox where session_id = ? and id = ?')
    for (const { sessionId, itemId, text } of said.accepted)
      rule(items.get(sessionId, itemId) !== undefined, `"${text}" was accepted and is gone`)
    const answers = db.prepare<[string], { closed_at: number | null }>('select closed_at from approval where id = ?')
    for (const { approvalId } of said.answered) rule(answers.get(approvalId)?.closed_at != null, `the answer to ${approvalId} is gone`)

    const done = readFileSync(effects, 'utf8').split('\n').filter(Boolean)
    // a call whose outcome a kill left unknown may run again, but only when the person was asked and said so
    const again = db
      .prepare<[], { raw: string }>(
        `select json_extract(request, '$.arguments') as raw from approval
         where json_extract(request, '$.again') = 1 and json_extract(answer, '$.kind') = 'allow'`
      )
      .all()
      .map((r) => r.raw)
    for (const n of new Set(done)) {
      const times = done.filter((d) => d === n).length
      rule(times <= 1 + again.filter((raw) => raw === `{"n":${n}}`).length, `effect ${n} took place ${String(times)} times, unasked`)
    }
    const dispatched = new Set(
      db
        .prepare<[], { raw: string }>("select json_extract(e.payload, '$.arguments') as raw from event e where e.type = 'tool_start'")
        .all()
        .map((r) => r.raw)
    )
    for (const n of done) rule(dispatched.has(`{"n":${n}}`), `effect ${n} has no call`)

    let events = 0
    let entries = 0
    let parked = 0
    for (const { id } of h.sessions.list('open')) {
      const session = h.sessions.get(id)
      if (!session) continue
      const log = h.store.events.after(id, 0, Number.MAX_SAFE_INTEGER)
      events += log.length
      rule(
        log.every((e, i) => e.seq === i + 1),
        `the events of ${id} have a gap`
      )
      const snapshot = session.snapshot()
      const open = h.store.runs.open().filter((r) => r.run.sessionId === id)
      parked += open.length
      for (const { run } of open)
        rule(
          snapshot.approvals.some((a) => a.runId === run.id),
          `run ${run.id} is open and waits for nobody`
        )
      rule(open.length <= 1, `${id} has several open runs`)
      const all = [...h.store.entries.all(id)]
      entries += all.length
      const seen = new Set<string>()
      for (const entry of all) {
        rule(entry.parentId === null || seen.has(entry.parentId), `entry ${entry.id} has no parent before it`)
        seen.add(entry.id)
      }
      rule(snapshot.head === null || seen.has(snapshot.head), `the head of ${id} is no entry`)
      const replayed = log.reduce(fold, emptyView(snapshot.session))
      const [a, b] = [comparable(replayed), comparable(viewOf(snapshot))]
      for (const key of Object.keys(a) as (keyof typeof a)[])
        rule(sameJson(a[key], b[key]), `${key} of ${id}: the events fold to ${short(a[key])}, the rows say ${short(b[key])}`)
      const { messages } = contextAt(
        { system: '', tools: [], window: 50_000, vision: false },
        h.store.entries.up(id, snapshot.head)
      ).request()
      for (const [i, m] of messages.entries()) {
        const after = messages.slice(i + 1, i + 1 + callsOf(m).length).map((r) => (r.role === 'tool' ? r.callId : ''))
        rule(
          sameJson(
            after,
            callsOf(m).map((c) => c.id)
          ),
          `the history of ${id} is not valid`
        )
      }
    }
    const unknown = Number(db.prepare('select count(*) from entry where payload like \'%"unknown_outcome"%\'').pluck().get())
    return { broken, events, entries, unknown, parked }
  } finally {
    db.close()
    await h.close()
  }
}

/** What two ways to a view must agree on. A snapshot knows only the newest part of the path and the present turn. */
function comparable(view: SessionView) {
  const path = toArray(view.tree.path).map((e) => e.id)
  const { updatedAt, ...session } = view.session
  return {
    seq: view.seq,
    session,
    head: view.tree.head,
    path: path.slice(-400),
    queue: view.queue,
    approvals: view.approvals,
    labels: [...view.labels].sort(),
    sides: view.sides,
    notices: view.notices,
    run: view.run && { ...view.run, spent: undefined }
  }
}

const short = (value: unknown): string => JSON.stringify(value ?? null).slice(0, 600)
const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))
/** With keys in order, so that only values count. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([k, v]) => [k, sorted(v)])
  )
}
