// Turns what the loop says into what is stored and shown (design §3.3, §3.4): entries, journal rows and events of one run.
//
// What must be kept before anything else happens (an effect's dispatch and its result) is a transaction at once. Answers, and results of calls that
// may be repeated, are stored as soon as what runs now has run, beside the next request and not before it; the rest within a frame.
import type { EventDraft } from '../../../shared/event'
import type { ToolMessage } from '../../../shared/message'
import type { Entry, RunState, Spent } from '../../../shared/session'
import type { LoopEvent } from '../../loop/loop'
import type { Registry } from '../../loop/tool'
import { newId } from '../../store/id'
import type { Store } from '../../store/store'
import type { EventLog } from '../log'

export interface RecorderScope {
  readonly sessionId: string
  readonly runId: string
  readonly model: string
  readonly store: Store
  readonly log: EventLog
  readonly registry: Registry
  readonly signal: AbortSignal
  /** The text without the secrets in it. */
  mask(text: string): string
  now(): number
  /** The entry that the run's next one follows. */
  tip(): string | null
  /** An entry was stored, or will be before anything else is, and is the run's newest. */
  added(entry: Entry): void
  /** Stores and tells a state of the run, with what waits. */
  setState(state: RunState): void
}

interface Kept {
  readonly draft: EventDraft
  readonly row: () => void
}

/** Records the events of one run, in the order they come. A promise when the disk refuses for now: the run pauses until it is kept. */
export function createRecorder(scope: RecorderScope): (event: LoopEvent) => void | Promise<void> {
  const { sessionId, runId, store, log, registry, signal } = scope
  let turn = 0
  let draftId = ''
  let retrying = false
  const calls = new Map<string, { position: number; safe: boolean }>()
  const results = new Map<number, ToolMessage>()
  let nextResult = 0
  let steps = 0
  let latest: Spent | undefined

  const soon = (draft: EventDraft, row?: () => void): void => {
    log.defer({ draft, ...(row && { row }) })
  }
  /** Where the run is, as a row; of several in one transaction only the newest is written. */
  const progress = (spent?: Spent): (() => void) => {
    const mine = ++steps
    const at = turn
    latest = spent ?? latest
    return () => {
      if (mine === steps) store.runs.setProgress(runId, at, latest)
    }
  }
  const newEntry = (id: string, parentId: string | null, message: Extract<Entry, { type: 'message' }>['message']): Entry => ({
    id,
    sessionId,
    parentId,
    at: scope.now(),
    type: 'message',
    message
  })

  return (event) => {
    switch (event.type) {
      case 'turn_start': {
        const began = (turn = event.turn)
        results.clear()
        calls.clear()
        nextResult = 0
        soon({ type: 'turn_start', runId, turn: began }, progress())
        return
      }
      case 'turn_end': {
        const { spent } = event
        soon({ type: 'turn_end', runId, turn, spent }, progress(spent))
        return
      }
      case 'message_start':
        if (retrying) scope.setState('running')
        retrying = false
        draftId = newId()
        soon({ type: 'message_start', runId, turn, entryId: draftId, parentId: scope.tip(), model: scope.model })
        return
      case 'message_phase': {
        const draft: EventDraft = { type: 'message_phase', runId, turn, entryId: draftId, phase: event.phase }
        log.defer({ draft }, (old, newest) => (newest && old.type === 'message_phase' ? draft : undefined))
        return
      }
      case 'message_update': {
        const { part, delta } = event
        log.defer({ draft: { type: 'message_update', runId, turn, entryId: draftId, part, delta } }, (old, newest) =>
          newest && old.type === 'message_update' && old.part === part ? grow(old, delta) : undefined
        )
        return
      }
      case 'retry': {
        const { type, ...rest } = event
        soon({ type, runId, turn, ...rest })
        retrying = true
        scope.setState('needs-retry')
        return
      }
      case 'message_end': {
        const entry = newEntry(draftId, scope.tip(), event.message)
        scope.added(entry)
        return keep([
          {
            draft: { type: 'message_end', runId, turn, entry },
            row: () => {
              store.entries.add(entry)
            }
          }
        ])
      }
      case 'tool_start': {
        const { id, name, arguments: raw } = event.call
        const { position } = event
        const started = turn
        const tool = registry.find(name)
        if (calls.size === 0) nextResult = position
        calls.set(id, { position, safe: tool?.replay === 'safe' })
        soon({ type: 'tool_start', runId, turn, callId: id, name, arguments: raw, ...(tool && { label: tool.label }) }, () => {
          store.runs.addCall(runId, started, position, id, name)
        })
        return
      }
      case 'tool_wait': {
        const behind = event.behind.map(({ sessionId: of, callId, tool }) => ({ sessionId: of, callId, tool }))
        soon({ type: 'tool_wait', runId, turn, callId: event.callId, behind })
        return
      }
      case 'tool_dispatch':
        return dispatch(event.callId)
      case 'tool_update': {
        const { callId } = event
        const { text, ...counts } = event.progress
        // what a command prints is shown before its result is, and may hold secrets as well
        const progress = { ...counts, ...(text !== undefined && { text: scope.mask(text) }) }
        const draft: EventDraft = { type: 'tool_update', runId, turn, callId, progress }
        log.defer({ draft }, (old) => (old.type === 'tool_update' && old.callId === callId ? draft : undefined))
        return
      }
      case 'tool_end':
        return endTool(event.result)
      case 'tool_late': {
        const message = `A tool ended after it had been given up (call ${event.callId}); its result was dropped.`
        soon({ type: 'notice', runId, turn, level: 'warning', code: 'late_result', message })
      }
    }
  }

  /** A call that may be repeated needs no proof that it began; one that may not is on the disk before its effect (design §4). */
  function dispatch(callId: string): void | Promise<void> {
    const draft: EventDraft = { type: 'tool_dispatch', runId, turn, callId }
    const row = (): void => {
      store.runs.dispatch(runId, callId, scope.now())
    }
    if (calls.get(callId)?.safe) {
      soon(draft, row)
      return undefined
    }
    const kept = log.persist((add) => {
      row()
      add(draft)
    }, signal)
    return Promise.resolve(kept).then(() => store.flush())
  }

  /** Stored the moment its tool ends; its entry follows when the calls before it have theirs, so the tree keeps call order (spec L5). */
  function endTool(result: ToolMessage): void | Promise<void> {
    results.set(calls.get(result.callId)?.position ?? nextResult, result)
    const entries: { entry: Entry; callId: string }[] = []
    for (let ready = results.get(nextResult); ready; ready = results.get(++nextResult)) {
      const entry = newEntry(newId(), entries.at(-1)?.entry.id ?? scope.tip(), ready)
      entries.push({ entry, callId: ready.callId })
    }
    for (const { entry } of entries) scope.added(entry)
    const { callId, code, text, durationMs } = result
    const own = entries.find((e) => e.callId === callId)
    const kept: Kept[] = [
      {
        draft: { type: 'tool_end', runId, turn, callId, code, text, durationMs },
        row: () => {
          for (const { entry } of entries) store.entries.add(entry)
          store.runs.finishCall(runId, callId, result, own?.entry.id)
        }
      },
      ...entries.map(({ entry, callId: of }): Kept => ({
        draft: { type: 'message_end', runId, turn, entry },
        row: () => {
          if (of !== callId && entry.type === 'message') store.runs.finishCall(runId, of, entry.message as ToolMessage, entry.id)
        }
      }))
    ]
    if (calls.get(callId)?.safe) return keep(kept)
    return log.persist((add) => {
      for (const { draft, row } of kept) {
        row()
        add(draft)
      }
    }, signal)
  }

  /** Stores what belongs together as soon as what runs now has run; the run waits for it only while the disk refuses. */
  function keep(kept: readonly Kept[]): void | Promise<void> {
    for (const { draft, row } of kept) log.defer({ draft, row, within: 'tick' })
    return log.troubled ? log.persist(() => undefined, signal) : undefined
  }
}

/** The draft is the log's own until it is stored, so it may grow in place: a fast model sends thousands of pieces a frame. */
function grow(draft: Extract<EventDraft, { type: 'message_update' }>, delta: string): EventDraft {
  draft.delta += delta
  return draft
}
