// Runs whose process is gone (design §4, journal): what was done, what was not begun, what may have happened. Nothing is run again here. A run
// that waits for a person goes on waiting; any other ends as interrupted, with a result for every call, and the person decides.
import { appendText, type AssistantPart, callsOf, type ToolMessage } from '../../../shared/message'
import type { EventDraft } from '../../../shared/event'
import type { Entry, StopCause } from '../../../shared/session'
import type { PendingCalls } from '../../loop/loop'
import type { Registry } from '../../loop/tool'
import { newId } from '../../store/id'
import type { JournalCall, StoredRun } from '../../store/tables/runs'
import type { Store } from '../../store/store'

const CAUSE: StopCause = { kind: 'interrupted' }

/** Ends every run that a former process left open, but those that wait for an answer. Call it before any session is used. Returns how many there were. */
export function recoverRuns(store: Store, now: () => number): number {
  const open = store.runs.open()
  for (const stored of open) {
    const { sessionId } = stored.run
    const at = now()
    store.write(() => {
      let seq = store.events.lastSeq(sessionId)
      const say = (draft: EventDraft): void => void store.events.append(sessionId, ++seq, at, draft)
      holdQueue(store, sessionId, say)
      if (isParked(store, stored)) keepWaiting(store, stored, say)
      else endInterrupted(store, stored, at, say)
    })
  }
  return open.length
}

/** Whether a run waits for an answer of the person: it is answered after a restart as before. */
export const isParked = (store: Store, { run }: StoredRun): boolean =>
  run.endedAt === undefined && store.runs.openApprovals(run.sessionId).some((a) => a.runId === run.id)

/** The question was stored a moment before the state was: the kill came between them. */
function keepWaiting(store: Store, { run }: StoredRun, say: (draft: EventDraft) => void): void {
  if (run.state === 'waiting') return
  store.runs.setState(run.id, 'waiting')
  store.sessions.setState(run.sessionId, 'waiting')
  say({ type: 'state', runId: run.id, state: 'waiting' })
}

/** What waited for a run that is gone waits for the person now (spec Q3). */
export function holdQueue(store: Store, sessionId: string, say: (draft: EventDraft) => void): void {
  for (const item of store.inbox.waiting(sessionId)) {
    if (item.held) continue
    const held = { ...item, held: true }
    store.inbox.change(sessionId, held)
    say({ type: 'queue', item: held, state: 'returned' })
  }
}

/** Ends a run within a transaction of the caller; returns the entries that it stored, in order. */
export function endInterrupted(store: Store, stored: StoredRun, at: number, say: (draft: EventDraft) => void, cause = CAUSE): Entry[] {
  const { run } = stored
  const { id: runId, sessionId } = run
  const state = cause.kind === 'aborted' ? 'cancelled' : 'interrupted'
  const entries: Entry[] = []
  const { tip, draft } = lastSeen(store, stored)
  let parentId = tip
  const add = (id: string, message: Extract<Entry, { type: 'message' }>['message']): void => {
    const entry: Entry = { id, sessionId, parentId, at, type: 'message', message }
    store.entries.add(entry)
    say({ type: 'message_end', runId, turn: run.turn, entry })
    entries.push(entry)
    parentId = id
  }
  if (draft && draft.parts.length > 0) {
    const error = { code: 'interrupted', message: 'Tau ended while this was being written.' }
    add(draft.entryId, { role: 'assistant', parts: draft.parts, model: run.model, stopReason: 'interrupted', error })
  } else {
    for (const result of missingResults(store, stored, tip)) add(newId(), result)
  }
  for (const approval of store.runs.openApprovals(sessionId)) {
    if (approval.runId !== runId) continue
    store.runs.answer(approval.id, undefined, at)
    say({ type: 'approval_answer', runId, approvalId: approval.id })
  }
  store.runs.end(runId, state, cause, at)
  store.sessions.setState(sessionId, state)
  say({ type: 'agent_end', runId, state, cause })
  return entries
}

interface Seen {
  /** The newest entry of the run, or the one it began at. */
  readonly tip: string | null
  /** The answer that was being streamed, as far as it reached the disk. */
  readonly draft?: { readonly entryId: string; readonly parts: AssistantPart[] }
}

/** Where a run was, from its stored events. */
export function lastSeen(store: Store, { run, firstSeq, base }: StoredRun): Seen {
  let tip = base
  let draft: Seen['draft']
  for (let seq = firstSeq - 1; ;) {
    const events = store.events.after(run.sessionId, seq, 1_000)
    for (const event of events) {
      seq = event.seq
      if (event.runId !== run.id) continue
      if (event.type === 'message_start') draft = { entryId: event.entryId, parts: [] }
      else if (event.type === 'message_update' && draft) draft = { ...draft, parts: appendText(draft.parts, event.part, event.delta) }
      else if (event.type === 'message_end') {
        tip = event.entry.id
        if (event.entry.id === draft?.entryId) draft = undefined
      }
    }
    if (events.length === 0) return { tip, ...(draft && { draft }) }
  }
}

/** Calls of the answer above `tip` that are not done, and those that may have happened and must not happen twice without a word of the person. */
export interface Unfinished {
  readonly pending: PendingCalls
  /** The newest of the answer's own entries: the answer, or the last of its first results. */
  readonly tip: string
  readonly again: ReadonlySet<string>
}

/** Results that recovery put in the place of ones that never came. */
const FILLED_IN = new Set(['interrupted', 'unknown_outcome'])

/** What is unfinished at an entry; undefined when no call is. `journal`: calls of the run that made it, where it is still open. */
export function unfinishedAt(
  store: Store,
  sessionId: string,
  tip: string | null,
  registry: Registry,
  journal: readonly JournalCall[] = []
): Unfinished | undefined {
  const results: { entry: Entry; result: ToolMessage }[] = []
  for (const entry of store.entries.up(sessionId, tip)) {
    if (entry.type !== 'message') return undefined
    const { message } = entry
    if (message.role === 'tool') {
      results.unshift({ entry, result: message })
      continue
    }
    const calls = callsOf(message)
    if (message.role !== 'assistant' || calls.length === 0) return undefined
    const real = results.findIndex((r) => FILLED_IN.has(r.result.code))
    const stored = real === -1 ? results : results.slice(0, real)
    if (stored.length === calls.length) return undefined
    const known = new Map<string, ToolMessage>()
    const maybe = new Set<string>()
    for (const { result } of results.slice(stored.length)) {
      if (!FILLED_IN.has(result.code)) known.set(result.callId, result)
      else if (result.code === 'unknown_outcome') maybe.add(result.callId)
    }
    for (const call of journal) {
      if (stored.some((r) => r.result.callId === call.callId)) continue
      if (call.result) known.set(call.callId, call.result)
      else if (call.dispatchedAt !== undefined) maybe.add(call.callId)
    }
    const again = new Set(calls.filter((c) => maybe.has(c.id) && registry.find(c.name)?.replay !== 'safe').map((c) => c.id))
    return { pending: { answer: message, stored: stored.length, known }, tip: stored.at(-1)?.entry.id ?? entry.id, again }
  }
  return undefined
}

/** Results for the calls of the newest answer that have none in the tree yet, in call order. */
function missingResults(store: Store, { run }: StoredRun, tip: string | null): ToolMessage[] {
  const present = new Set<string>()
  for (const entry of store.entries.up(run.sessionId, tip)) {
    if (entry.type !== 'message') return []
    const { message } = entry
    if (message.role === 'tool') {
      present.add(message.callId)
      continue
    }
    const journal = new Map(store.runs.calls(run.id, run.turn).map((c) => [c.callId, c]))
    return callsOf(message)
      .filter((c) => !present.has(c.id))
      .map((c) => journal.get(c.id)?.result ?? interrupted(c.id, c.name, journal.get(c.id)))
  }
  return []
}

function interrupted(callId: string, name: string, known: JournalCall | undefined): ToolMessage {
  const result = { role: 'tool' as const, callId, name, durationMs: 0 }
  return known?.dispatchedAt === undefined
    ? { ...result, code: 'interrupted', text: 'Tau ended before this call began. Nothing ran.' }
    : {
        ...result,
        code: 'unknown_outcome',
        text: `Tau ended while ${name} ran. It may have had its effect or part of it: look before you repeat it.`
      }
}
