// A run whose end was never stored (its process was killed, or the disk was full): what was done, what was not begun, what may have happened
// (design §4, journal). Nothing is run again here; the run ends as interrupted and the person decides.
import type { EventDraft } from '../../shared/event'
import { appendText, type AssistantPart, callsOf, type ToolMessage } from '../../shared/message'
import type { Entry, Run, StopCause } from '../../shared/session'
import { newId } from '../store/id'
import type { JournalCall, StoredRun } from '../store/runs'
import type { Store } from '../store/store'

const CAUSE: StopCause = { kind: 'interrupted' }

/** Ends every run that a former process left open. Call it before any session is used. Returns how many there were. */
export function recoverRuns(store: Store, now: () => number): number {
  const open = store.runs.open()
  for (const stored of open)
    store.writeDurably(() => {
      recoverRun(store, stored, now(), (draft) => store.events.append(stored.run.sessionId, now(), draft))
    })
  return open.length
}

/** Ends one such run within a transaction of the caller; returns the entries that it stored, in order. */
export function recoverRun(store: Store, { run, firstSeq }: StoredRun, at: number, say: (draft: EventDraft) => void): Entry[] {
  const { id: runId, sessionId } = run
  const entries: Entry[] = []
  const draft = unfinishedAnswer(store, sessionId, firstSeq)
  let head = store.sessions.find(sessionId)?.head ?? null
  const add = (id: string, message: Entry['message']): void => {
    const entry: Entry = { id, sessionId, parentId: head, at, type: 'message', message }
    store.sessions.addEntry(entry)
    say({ type: 'message_end', runId, turn: run.turn, entry })
    entries.push(entry)
    head = id
  }
  if (draft && draft.parts.length > 0) {
    const error = { code: 'interrupted', message: 'Tau ended while this was being written.' }
    add(draft.entryId, { role: 'assistant', parts: draft.parts, model: run.model, stopReason: 'interrupted', error })
  } else {
    for (const result of missingResults(store, run, head)) add(newId(), result)
  }
  for (const approval of store.runs.openApprovals(sessionId)) {
    store.runs.answer(approval.id, undefined, at)
    say({ type: 'approval_answer', runId, approvalId: approval.id })
  }
  store.runs.end(runId, 'interrupted', CAUSE, at)
  store.sessions.setState(sessionId, 'interrupted')
  say({ type: 'agent_end', runId, state: 'interrupted', cause: CAUSE })
  return entries
}

/** The answer that was being streamed, as far as it reached the disk. */
function unfinishedAnswer(store: Store, sessionId: string, firstSeq: number): { entryId: string; parts: AssistantPart[] } | undefined {
  let draft: { entryId: string; parts: AssistantPart[] } | undefined
  for (let seq = firstSeq - 1; ;) {
    const events = store.events.after(sessionId, seq, 1_000)
    for (const event of events) {
      seq = event.seq
      if (event.type === 'message_start') draft = { entryId: event.entryId, parts: [] }
      else if (event.type === 'message_update' && draft) draft = { ...draft, parts: appendText(draft.parts, event.part, event.delta) }
      else if (event.type === 'message_end' && event.entry.id === draft?.entryId) draft = undefined
    }
    if (events.length === 0) return draft
  }
}

/** Results for the calls of the newest answer that have none in the tree yet, in call order. */
function missingResults(store: Store, run: Run, head: string | null): ToolMessage[] {
  const present = new Set<string>()
  let id = head
  for (;;) {
    const entry = id === null ? undefined : store.sessions.entry(run.sessionId, id)
    if (!entry) return []
    const { message } = entry
    if (message.role === 'tool') {
      present.add(message.callId)
      id = entry.parentId
      continue
    }
    const journal = new Map(store.runs.calls(run.id, run.turn).map((c) => [c.callId, c]))
    return callsOf(message)
      .filter((c) => !present.has(c.id))
      .map((c) => journal.get(c.id)?.result ?? interrupted(c.id, c.name, journal.get(c.id)))
  }
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
