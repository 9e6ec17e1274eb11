// Turns what the loop says into what is stored and shown (design §3.3, §3.4): entries, journal rows and events of one run.
//
// What must be kept before anything else happens (an answer, a result, the dispatch of an effect) is a transaction at once; the rest is deferred,
// so a turn costs a handful of transactions instead of one an event.
import type { EventDraft } from '../../shared/event'
import type { ToolMessage } from '../../shared/message'
import type { Entry } from '../../shared/session'
import type { LoopEvent } from '../loop/loop'
import type { Registry } from '../loop/tool'
import { newId } from '../store/id'
import type { Store } from '../store/store'
import type { EventLog } from './log'

export interface RecorderScope {
  readonly sessionId: string
  readonly runId: string
  readonly model: string
  readonly store: Store
  readonly log: EventLog
  readonly registry: Registry
  now(): number
  /** The entry that the next one follows. */
  head(): string | null
  /** An entry was stored and is the head now. */
  added(entry: Entry): void
  /** Something could not be stored: the run must end, as nothing may be shown that is not kept. */
  readonly failed: (error: unknown) => void
}

/** Records the events of one run, in the order they come. Throws what the store throws. */
export function createRecorder(scope: RecorderScope): (event: LoopEvent) => void {
  const { sessionId, runId, store, log, registry, failed } = scope
  let turn = 0
  let draftId = ''
  const calls = new Map<string, { position: number; name: string }>()
  const results = new Map<number, ToolMessage>()
  let nextResult = 0

  type Add = (draft: EventDraft) => void
  const soon = (draft: EventDraft, row?: () => void): void => {
    log.defer({ draft, within: 'tick', failed, ...(row && { row }) })
  }
  const addEntry = (add: Add, id: string, parentId: string | null, message: Entry['message']): Entry => {
    const entry: Entry = { id, sessionId, parentId, at: scope.now(), type: 'message', message }
    store.sessions.addEntry(entry)
    add({ type: 'message_end', runId, turn, entry })
    return entry
  }

  return (event) => {
    switch (event.type) {
      case 'turn_start': {
        const began = (turn = event.turn)
        results.clear()
        calls.clear()
        nextResult = 0
        soon({ type: 'turn_start', runId, turn: began }, () => {
          store.runs.setTurn(runId, began)
        })
        return
      }
      case 'turn_end':
        soon({ type: 'turn_end', runId, turn })
        return
      case 'message_start':
        draftId = newId()
        soon({ type: 'message_start', runId, turn, entryId: draftId, parentId: scope.head(), model: scope.model })
        return
      case 'message_phase': {
        const draft: EventDraft = { type: 'message_phase', runId, turn, entryId: draftId, phase: event.phase }
        log.defer({ draft, within: 'frame', failed }, (old, newest) => (newest && old.type === 'message_phase' ? draft : undefined))
        return
      }
      case 'message_update': {
        const { part, delta } = event
        const draft: EventDraft = { type: 'message_update', runId, turn, entryId: draftId, part, delta }
        log.defer({ draft, within: 'frame', failed }, (old, newest) =>
          newest && old.type === 'message_update' && old.part === part ? { ...old, delta: old.delta + delta } : undefined
        )
        return
      }
      case 'message_end':
        scope.added(log.commit((add) => addEntry(add, draftId, scope.head(), event.message)))
        return
      case 'tool_start': {
        const { id, name, arguments: raw } = event.call
        const { position } = event
        const started = turn
        const label = registry.find(name)?.label
        calls.set(id, { position, name })
        soon({ type: 'tool_start', runId, turn, callId: id, name, arguments: raw, ...(label && { label }) }, () => {
          store.runs.addCall(runId, started, position, id, name)
        })
        return
      }
      case 'tool_dispatch':
        dispatch(event.callId)
        return
      case 'tool_update': {
        const { callId, progress } = event
        const draft: EventDraft = { type: 'tool_update', runId, turn, callId, progress }
        log.defer({ draft, within: 'frame', failed }, (old) => (old.type === 'tool_update' && old.callId === callId ? draft : undefined))
        return
      }
      case 'tool_end':
        endTool(event.result)
        return
      case 'tool_late': {
        const message = `A tool ended after it had been given up (call ${event.callId}); its result was dropped.`
        soon({ type: 'notice', runId, turn, level: 'warning', code: 'late_result', message })
      }
    }
  }

  /** A call that may be repeated needs no proof that it began; one that may not is on the disk before its effect (design §4). */
  function dispatch(callId: string): void {
    const draft: EventDraft = { type: 'tool_dispatch', runId, turn, callId }
    const row = (): void => {
      store.runs.dispatch(runId, callId, scope.now())
    }
    if (registry.find(calls.get(callId)?.name ?? '')?.replay === 'safe') {
      soon(draft, row)
      return
    }
    log.commit((add) => {
      row()
      add(draft)
    }, true)
  }

  /** Stored the moment its tool ends; its entry follows when the calls before it have theirs, so the tree keeps call order (spec L5). */
  function endTool(result: ToolMessage): void {
    results.set(calls.get(result.callId)?.position ?? nextResult, result)
    const added = log.commit((add) => {
      store.runs.finishCall(runId, result.callId, result)
      const { callId, code, text: shown, durationMs } = result
      add({ type: 'tool_end', runId, turn, callId, code, text: shown, durationMs })
      const entries: Entry[] = []
      for (let ready = results.get(nextResult); ready; ready = results.get(++nextResult)) {
        entries.push(addEntry(add, newId(), entries.at(-1)?.id ?? scope.head(), ready))
      }
      return entries
    })
    for (const entry of added) scope.added(entry)
  }
}
