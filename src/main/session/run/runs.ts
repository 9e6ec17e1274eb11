// Starting, ending and going on: which run a session has, and when it gets the next one (spec L2).
import type { Allowance } from '../../../shared/contract'
import { callsOf, type UserMessage } from '../../../shared/message'
import type { Answer, Entry, MessageEntry, Run, RunState, StopCause } from '../../../shared/session'
import { firstLine } from '../../../shared/text'
import type { PendingCalls } from '../../loop/loop'
import { type Budget, budgetWith } from '../../policy/budget'
import { newId } from '../../store/id'
import type { StoredRun } from '../../store/tables/runs'
import { type ActiveRun, type Add, added, type Desk } from '../desk'
import { conflict, done, type Outcome, unusable } from '../scope'
import type { Approvals } from './approvals'
import { endInterrupted, holdQueue, isParked, lastSeen, unfinishedAt } from './recovery'
import { performRun } from './run'

/** What a run does between its start and its first request, and what it may use. */
interface Start {
  readonly budget?: Budget
  readonly pending?: PendingCalls
  readonly again?: ReadonlySet<string>
}
export interface Runs {
  /** Stores the person's words under `parentId` and begins a run with them; false, and nothing is stored, when `take` says that they are known. */
  startWith(parentId: string | null, text: string, take: (run: Run, add: Add, entry: Entry) => boolean): boolean
  retry(more: Allowance | undefined): Promise<Outcome<{ seq: number }>>
  /** False when nothing was running. */
  stop(): boolean
  /** Stops one call of the run, which goes on. False when no such call waits or runs. */
  cancelCall(callId: string): boolean
  /** Ends the present turn of the run; what the person said comes next. */
  interrupt(): void
  answer(approvalId: string, answer: Answer): Promise<Outcome<{ seq: number }>>
  /** First of all in every intent: ends a run whose end could not be stored. Throws while there is still no room for it. */
  makeUp(): void
  /** Tau ends: a run that waits for a person stays as it is, any other is stopped. */
  leave(): void
}
export interface RunHooks {
  readonly approvals: Approvals
  /** Words that are due in a turn of the run. */
  readonly takeWords: (turn: number, atEnd: boolean) => readonly UserMessage[] | Promise<readonly UserMessage[]>
  /** Begins a run with what waits, when a run ended by itself. */
  releaseQueue(): void
}

export function createRuns(desk: Desk, hooks: RunHooks): Runs {
  const { id, scope, log } = desk
  const { store } = scope

  function newRun(): Run {
    const model = desk.info.model === '' ? scope.defaultModel() : desk.info.model
    return { id: newId(), sessionId: id, state: 'ready', model, turn: 0, startedAt: scope.now() }
  }

  function begin(add: Add, run: Run, base: string | null): void {
    const { seq } = add({ type: 'agent_start', runId: run.id, model: run.model })
    store.runs.insert(run, seq, base)
    store.sessions.setState(id, run.state)
  }

  function startWith(parentId: string | null, text: string, take: (run: Run, add: Add, entry: Entry) => boolean): boolean {
    const run = newRun()
    const message: UserMessage = { role: 'user', parts: [{ type: 'text', text }] }
    const entry: MessageEntry = { id: newId(), sessionId: id, parentId, at: run.startedAt, type: 'message', message }
    const named = desk.info.title === '' ? { ...desk.info, title: firstLine(text, 60) } : desk.info
    const next = named.model === run.model ? named : { ...named, model: run.model }
    const taken = log.commit((add) => {
      if (!take(run, add, entry)) return false
      if (next !== desk.info) {
        if (next.title !== desk.info.title) store.sessions.rename(id, next.title)
        if (next.model !== desk.info.model) store.sessions.setModel(id, next.model)
        add({ type: 'session', session: next })
      }
      moveHead(add, parentId)
      store.entries.add(entry)
      add({ type: 'message_end', entry })
      begin(add, run, entry.id)
      return true
    }, run.startedAt)
    if (!taken) return false
    desk.info = next
    desk.head = parentId
    added(desk, entry)
    const kept = desk.context
    if (kept?.tip === parentId) {
      kept.value.add(message)
      desk.context = { ...kept, tip: entry.id }
    }
    start(run, entry.id, {})
    return true
  }

  function moveHead(add: Add, to: string | null): void {
    if (desk.head === to) return
    store.sessions.setHead(id, to)
    add({ type: 'head', head: to })
  }

  function start(run: Run, tip: string | null, how: Start): void {
    const active: ActiveRun = {
      run,
      tip,
      stop: new AbortController(),
      turnStop: new AbortController(),
      calls: new Map(),
      interrupted: false,
      asked: false,
      parked: false,
      left: false,
      done: Promise.resolve()
    }
    desk.active = active
    desk.info = { ...desk.info, state: run.state }
    scope.changed(desk.info)
    active.done = drive(active, how).catch((error: unknown) => {
      scope.failed('a run could not be ended', error)
      log.drop()
      desk.active = undefined
      desk.context = undefined
      desk.endIsMissing = true
      desk.head = store.sessions.find(id)?.head ?? null
      desk.info = { ...desk.info, state: 'failed' }
      scope.changed(desk.info)
    })
  }

  async function drive(active: ActiveRun, how: Start): Promise<void> {
    const cause = await performRun({
      desk,
      active,
      budget: how.budget ?? scope.budget,
      pending: how.pending,
      approval: hooks.approvals.gate(how.again ?? new Set()),
      takeWords: hooks.takeWords
    })
    if (active.left) {
      desk.active = undefined
      return
    }
    end(active, cause)
    if (cause.kind === 'natural') hooks.releaseQueue()
  }

  function end(active: ActiveRun, cause: StopCause): void {
    const { run } = active
    const state = stateAfter(cause)
    const at = scope.now()
    log.commit((add) => {
      for (const approval of active.asked ? store.runs.openApprovals(id) : []) {
        store.runs.answer(approval.id, undefined, at)
        add({ type: 'approval_answer', runId: run.id, approvalId: approval.id })
      }
      if (cause.kind !== 'natural') {
        holdQueue(store, id, add)
        desk.queue = undefined
      }
      store.runs.end(run.id, state, cause, at)
      store.sessions.setState(id, state)
      add({ type: 'agent_end', runId: run.id, state, cause })
    }, at)
    store.flush().catch(scope.storage.trouble) // nobody waits for it: a run whose end a power cut took is one that was interrupted
    desk.info = { ...desk.info, state }
    desk.active = undefined
    scope.changed(desk.info)
    scope.ended({ ...run, state, cause, endedAt: at })
  }

  async function retry(more: Allowance | undefined): Promise<Outcome<{ seq: number }>> {
    if (desk.active) return conflict('A run is going on already.')
    const unfinished = unfinishedAt(store, id, desk.head, scope.registry)
    const from = unfinished?.tip ?? retryFrom()
    if (from === undefined) return conflict('There is nothing to answer: write a message.')
    const run = newRun()
    log.commit((add) => {
      moveHead(add, from)
      begin(add, run, from)
    }, run.startedAt)
    desk.head = from
    start(run, from, { ...(more && { budget: budgetWith(scope.budget, more) }), ...unfinished })
    await store.flush()
    return done({ seq: log.lastSeq })
  }

  /** The newest entry that a model can answer; a failed or broken-off answer below it stays as a sibling. Undefined: nothing to answer. */
  function retryFrom(): string | undefined {
    const last = desk.head === null ? undefined : store.entries.find(id, desk.head)
    if (!last) return undefined
    if (last.type !== 'message' || last.message.role !== 'assistant') return last.id
    const { stopReason } = last.message
    const finished = (stopReason === 'stop' || stopReason === 'calls') && callsOf(last.message).length === 0
    const said = last.message.parts.some((p) => p.type !== 'thinking')
    if (finished) return undefined
    // what was cut or stopped in the middle is a sibling of the new answer
    return said && stopReason === 'calls' ? last.id : (last.parentId ?? undefined)
  }

  // --- a run that waited for an answer when Tau ended

  function park(stored: StoredRun): void {
    desk.active = {
      run: stored.run,
      tip: lastSeen(store, stored).tip,
      stop: new AbortController(),
      turnStop: new AbortController(),
      calls: new Map(),
      interrupted: false,
      asked: true,
      parked: true,
      left: false,
      done: Promise.resolve()
    }
    desk.info = { ...desk.info, state: stored.run.state }
  }

  /** Goes on with the calls of the turn that waited. */
  function unpark(active: ActiveRun, interrupted = false): void {
    const { run, tip } = active
    const unfinished = unfinishedAt(store, id, tip, scope.registry, store.runs.calls(run.id, run.turn))
    start(run, unfinished?.tip ?? tip, unfinished ?? {})
    if (!desk.active) return
    desk.active.asked = true // questions of before may still be open
    desk.active.interrupted = interrupted
  }

  function endParked(active: ActiveRun): void {
    const stored = store.runs.find(active.run.id)
    const at = scope.now()
    const entries = log.commit((add) => {
      holdQueue(store, id, add)
      desk.queue = undefined
      return stored ? endInterrupted(store, stored, at, add, { kind: 'aborted' }) : []
    }, at)
    for (const entry of entries) added(desk, entry)
    desk.active = undefined
    desk.info = { ...desk.info, state: 'cancelled' }
    scope.changed(desk.info)
  }

  function makeUp(): void {
    if (!desk.endIsMissing) return
    const left = store.runs.open().filter((r) => r.run.sessionId === id)
    const at = scope.now()
    const entries = log.commit((add) => left.flatMap((stored) => endInterrupted(store, stored, at, add)), at)
    for (const entry of entries) added(desk, entry)
    desk.endIsMissing = false
    desk.info = { ...desk.info, state: 'interrupted' }
    scope.changed(desk.info)
  }

  const waiting = store.runs.open().find((r) => r.run.sessionId === id && isParked(store, r))
  if (waiting) park(waiting)

  return {
    startWith,
    retry,
    makeUp,
    stop() {
      const { active } = desk
      if (!active) return false
      if (active.parked) endParked(active)
      active.stop.abort()
      active.turnStop.abort()
      return true
    },
    cancelCall(callId) {
      const call = desk.active?.calls.get(callId)
      if (!call || call.signal.aborted) return false
      call.abort()
      return true
    },
    interrupt() {
      const { active } = desk
      if (!active) return
      if (active.parked) unpark(active, true)
      else if (active.run.turn === 0 && active.run.state === 'ready') active.interrupted = true
      active.turnStop.abort()
    },
    async answer(approvalId, answer) {
      const given = hooks.approvals.answer(approvalId, answer)
      if (given.kind === 'unusable') return unusable(given.reason)
      if (given.kind === 'closed') return conflict('This question is not open any more: it was answered, or its run has ended.')
      if (given.kind === 'nobody' && desk.active?.parked) unpark(desk.active)
      await store.flush()
      return done({ seq: log.lastSeq })
    },
    leave() {
      const { active } = desk
      if (!active || active.parked) return
      log.settle()
      if (active.run.state === 'waiting') active.left = true
      active.stop.abort()
      active.turnStop.abort()
    }
  }
}

function stateAfter(cause: StopCause): RunState {
  switch (cause.kind) {
    case 'natural':
    case 'terminated':
      return 'completed'
    case 'aborted':
      return 'cancelled'
    case 'interrupted':
      return 'interrupted'
    case 'budget':
    case 'repetition':
    case 'error':
      return 'failed'
  }
}
