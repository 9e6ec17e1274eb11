// Turns what the loop says into what is stored and shown (design §3.3, §3.4): entries, journal rows and events of one run, in one transaction
// each. Streamed text is gathered for a frame, so that a fast model floods neither the disk nor the windows.
import type { EventDraft } from '../../shared/event'
import type { ToolMessage } from '../../shared/message'
import type { Entry, Progress } from '../../shared/session'
import type { LoopEvent } from '../loop/loop'
import type { Registry } from '../loop/tool'
import { newId } from '../store/id'
import type { Store } from '../store/store'
import type { EventLog } from './log'

export interface Recorder {
  record(event: LoopEvent): void
  /** Stores what is still gathered; nothing is recorded after it. */
  close(): void
}
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
  /** A gathered piece could not be stored: the run must end, as nothing may be shown that is not kept. */
  failed(error: unknown): void
}

/** Text is on the disk and in the windows at most this long after it came; a third of what is promised (spec S5). */
const FRAME_MS = 33

export function createRecorder(scope: RecorderScope): Recorder {
  const { sessionId, runId, store, log, registry } = scope
  let turn = 0
  let draftId = ''
  let text: { part: 'text' | 'thinking'; delta: string } | undefined
  let phase: EventDraft | undefined
  const progress = new Map<string, Progress>()
  const results = new Map<number, ToolMessage>()
  const calls = new Map<string, { position: number; name: string }>()
  let nextResult = 0
  let timer: NodeJS.Timeout | undefined
  let closed = false

  type Add = (draft: EventDraft) => void
  const commit = <T>(work: (add: Add) => T, durable = false): T => {
    const value = log.commit((add) => {
      for (const draft of gathered()) add(draft)
      return work(add)
    }, durable)
    clear()
    return value
  }
  const gathered = (): EventDraft[] => [
    ...(phase ? [phase] : []),
    ...(text ? [{ type: 'message_update' as const, runId, turn, entryId: draftId, ...text }] : []),
    ...[...progress].map(([callId, value]) => ({ type: 'tool_update' as const, runId, turn, callId, progress: value }))
  ]
  const clear = (): void => {
    clearTimeout(timer)
    timer = undefined
    text = undefined
    phase = undefined
    progress.clear()
  }
  const flush = (): void => {
    if (text || phase || progress.size > 0) commit(() => undefined)
  }
  const gather = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined
      try {
        flush()
      } catch (error) {
        scope.failed(error)
      }
    }, FRAME_MS)
  }
  const addEntry = (add: Add, id: string, parentId: string | null, message: Entry['message']): Entry => {
    const entry: Entry = { id, sessionId, parentId, at: scope.now(), type: 'message', message }
    store.sessions.addEntry(entry)
    add({ type: 'message_end', runId, turn, entry })
    return entry
  }

  return {
    record(event) {
      if (closed && event.type !== 'tool_late') return
      switch (event.type) {
        case 'turn_start':
          turn = event.turn
          results.clear()
          calls.clear()
          nextResult = 0
          commit((add) => {
            store.runs.setTurn(runId, turn)
            add({ type: 'turn_start', runId, turn })
          })
          return
        case 'turn_end':
          commit((add) => {
            add({ type: 'turn_end', runId, turn })
          })
          return
        case 'message_start':
          draftId = newId()
          commit((add) => {
            add({ type: 'message_start', runId, turn, entryId: draftId, parentId: scope.head(), model: scope.model })
          })
          return
        case 'message_phase':
          phase = { type: 'message_phase', runId, turn, entryId: draftId, phase: event.phase }
          gather()
          return
        case 'message_update':
          if (text && text.part !== event.part) flush()
          text = { part: event.part, delta: (text?.delta ?? '') + event.delta }
          gather()
          return
        case 'message_end': {
          scope.added(commit((add) => addEntry(add, draftId, scope.head(), event.message)))
          return
        }
        case 'tool_start': {
          const { id, name, arguments: raw } = event.call
          const label = registry.find(name)?.label
          calls.set(id, { position: event.position, name })
          commit((add) => {
            store.runs.addCall(runId, turn, event.position, id, name)
            add({ type: 'tool_start', runId, turn, callId: id, name, arguments: raw, ...(label && { label }) })
          })
          return
        }
        case 'tool_dispatch':
          commit((add) => {
            store.runs.dispatch(runId, event.callId, scope.now())
            add({ type: 'tool_dispatch', runId, turn, callId: event.callId })
          }, mayNotRepeat(event.callId))
          return
        case 'tool_update':
          progress.set(event.callId, event.progress)
          gather()
          return
        case 'tool_end':
          endTool(event.result)
          return
        case 'tool_late':
          commit((add) => {
            const message = `A tool ended after it had been given up (call ${event.callId}); its result was dropped.`
            add({ type: 'notice', runId, turn, level: 'warning', code: 'late_result', message })
          })
      }
    },
    close() {
      closed = true
      try {
        flush()
      } finally {
        clear()
      }
    }
  }

  /** Stored the moment its tool ends; its entry follows when the calls before it have theirs, so the tree keeps call order (spec L5). */
  function endTool(result: ToolMessage): void {
    const added: Entry[] = []
    results.set(calls.get(result.callId)?.position ?? nextResult, result)
    commit((add) => {
      store.runs.finishCall(runId, result.callId, result)
      const { callId, code, text: shown, durationMs } = result
      add({ type: 'tool_end', runId, turn, callId, code, text: shown, durationMs })
      for (let ready = results.get(nextResult); ready; ready = results.get(++nextResult)) {
        added.push(addEntry(add, newId(), added.at(-1)?.id ?? scope.head(), ready))
      }
    })
    for (const entry of added) scope.added(entry)
  }

  function mayNotRepeat(callId: string): boolean {
    return registry.find(calls.get(callId)?.name ?? '')?.replay !== 'safe'
  }
}
