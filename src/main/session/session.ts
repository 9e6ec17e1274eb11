// One session: the only writer of its tree (design §3.2). It takes intents (prompt, stop, answer, go to …), starts runs, and stores and shows
// what happens. Whatever it changes in memory, it has stored before.
import type { Snapshot } from '../../shared/contract'
import type { EventDraft, SessionEvent } from '../../shared/event'
import { callsOf, type UserMessage } from '../../shared/message'
import type { Answer, Entry, InboxItem, Run, RunState, Session, StopCause } from '../../shared/session'
import { firstLine } from '../../shared/text'
import { addEntry, emptyTree, entryOf, moveHead, type Tree } from '../../shared/tree'
import { newId } from '../store/id'
import { createApprovals } from './approvals'
import { openLog } from './log'
import { recoverRun } from './recovery'
import { performRun } from './run'
import { conflict, notFound, type Outcome, type SessionScope } from './scope'

interface Prompt {
  readonly text: string
  /** Made by who sends it: the same prompt sent twice counts once. */
  readonly itemId: string
  /** Where a branch begins (null: at the root); undefined follows the head. */
  readonly parentId?: string | null | undefined
  readonly kind?: InboxItem['kind'] | undefined
}
interface Accepted {
  readonly accepted: 'started' | 'queued' | 'known'
  readonly seq: number
}

export interface SessionHandle {
  readonly info: Session
  snapshot(): Snapshot
  watch(after: number, signal: AbortSignal): AsyncGenerator<SessionEvent>
  prompt(prompt: Prompt): Outcome<Accepted>
  retry(): Outcome<{ seq: number }>
  /** False when nothing was running. */
  stop(): boolean
  answer(approvalId: string, answer: Answer): Outcome<{ seq: number }>
  withdraw(itemId: string): Outcome<{ text: string }>
  goTo(entryId: string | null): Outcome<{ head: string | null }>
  rename(title: string): Session
  archive(archived: boolean): Session
  setModel(model: string): Session
  /** Resolves when no run is going on and everything about the last one is stored (spec L6). */
  waitForIdle(): Promise<void>
}

type Add = (draft: EventDraft) => SessionEvent

/** Opens a stored session; undefined when there is none of that id. */
export function openSession(id: string, scope: SessionScope): SessionHandle | undefined {
  const { store } = scope
  const stored = store.sessions.find(id)
  if (!stored) return undefined
  const { head, ...first } = stored
  const log = openLog(store, id, scope.now)
  let info: Session = first
  let tree: Tree = store.sessions.entries(id).reduce(addEntry, emptyTree())
  tree = moveHead(tree, head)
  let active: { run: Run; stop: AbortController; done: Promise<void> } | undefined
  let endIsMissing = false
  const approvals = createApprovals({
    sessionId: id,
    store,
    log,
    now: scope.now,
    waiting: (is) => {
      setRunState(is ? 'waiting' : 'running')
    }
  })

  // --- intents

  function prompt(given: Prompt): Outcome<Accepted> {
    makeUp()
    const { parentId } = given
    if (parentId !== undefined && parentId !== null && !entryOf(tree, parentId))
      return notFound('There is no such message in this session.')
    if (active && parentId !== undefined) return conflict('A run is going on. Stop it before you branch.')
    const at = scope.now()
    const { itemId, text, kind = 'follow-up' } = given
    if (active) {
      const item = { id: itemId, kind, text, at }
      const isNew = log.commit((add) => store.inbox.add(id, item) && add({ type: 'queue', state: 'queued', item }), true)
      return accepted(isNew ? 'queued' : 'known')
    }
    const started = startWith(parentId === undefined ? tree.head : parentId, text, (run) => {
      const isNew = store.inbox.add(id, { id: itemId, kind: 'prompt', text, at })
      if (isNew) store.inbox.take(id, itemId, run.id, 1)
      return isNew
    })
    return accepted(started ? 'started' : 'known')
  }

  function retry(): Outcome<{ seq: number }> {
    makeUp()
    if (active) return conflict('A run is going on already.')
    const from = retryFrom()
    if (from === undefined) return conflict('There is nothing to answer: write a message.')
    const run = newRun()
    log.commit(
      (add) => {
        if (from !== tree.head) {
          store.sessions.setHead(id, from)
          add({ type: 'head', head: from })
        }
        begin(add, run)
      },
      true,
      run.startedAt
    )
    tree = moveHead(tree, from)
    start(run)
    return { ok: true, value: { seq: log.lastSeq } }
  }

  function withdraw(itemId: string): Outcome<{ text: string }> {
    const item = log.commit((add) => {
      const found = store.inbox.withdraw(id, itemId)
      if (found) add({ type: 'queue', state: 'withdrawn', item: found })
      return found
    })
    return item ? { ok: true, value: { text: item.text } } : notFound('This message does not wait any more.')
  }

  function goTo(entryId: string | null): Outcome<{ head: string | null }> {
    makeUp()
    if (active) return conflict('A run is going on. Stop it first.')
    if (entryId !== null && !entryOf(tree, entryId)) return notFound('There is no such message in this session.')
    log.commit((add) => {
      store.sessions.setHead(id, entryId)
      add({ type: 'head', head: entryId })
    })
    tree = moveHead(tree, entryId)
    return { ok: true, value: { head: entryId } }
  }

  // --- runs

  /** Stores the person's words and begins a run with them; false, and nothing is stored, when `take` says that they are known. */
  function startWith(parentId: string | null, text: string, take: (run: Run, add: Add) => boolean): boolean {
    const run = newRun()
    const entry = newEntry(parentId, text, run.startedAt)
    const named = info.title === '' ? { ...info, title: firstLine(text, 60) } : info
    const next = named.model === run.model ? named : { ...named, model: run.model }
    const taken = log.commit(
      (add) => {
        if (!take(run, add)) return false
        if (next !== info) {
          store.sessions.rename(id, next.title)
          store.sessions.setModel(id, next.model)
          add({ type: 'session', session: next })
        }
        store.sessions.addEntry(entry)
        add({ type: 'message_end', entry })
        begin(add, run)
        return true
      },
      true,
      run.startedAt
    )
    if (!taken) return false
    info = next
    added(entry)
    start(run)
    return true
  }

  function newRun(): Run {
    const model = info.model === '' ? scope.defaultModel() : info.model
    return { id: newId(), sessionId: id, state: 'running', model, turn: 0, startedAt: scope.now() }
  }

  const newEntry = (parentId: string | null, text: string, at: number): Entry => ({
    id: newId(),
    sessionId: id,
    parentId,
    at,
    type: 'message',
    message: userMessage(text)
  })

  function begin(add: Add, run: Run): void {
    const { seq } = add({ type: 'agent_start', runId: run.id, model: run.model })
    store.runs.insert(run, seq)
    store.sessions.setState(id, 'running')
  }

  function start(run: Run): void {
    const stop = new AbortController()
    const current = { run, stop, done: Promise.resolve() }
    active = current
    info = { ...info, state: 'running' }
    scope.changed(info)
    current.done = drive(run, stop).catch((error: unknown) => {
      scope.failed('a run could not be ended', error)
      log.drop()
      active = undefined
      endIsMissing = true
      info = { ...info, state: 'failed' }
      scope.changed(info)
    })
  }

  /** Ends a run whose end could not be stored, before anything else happens in this session. Throws while there is still no room for it. */
  function makeUp(): void {
    if (!endIsMissing) return
    const left = store.runs.open().filter((r) => r.run.sessionId === id)
    const entries = log.commit((add) => left.flatMap((stored) => recoverRun(store, stored, scope.now(), add)), true)
    for (const entry of entries) added(entry)
    endIsMissing = false
    info = { ...info, state: 'interrupted' }
  }

  async function drive(run: Run, stop: AbortController): Promise<void> {
    const gates = [approvals.gate]
    const cause = await performRun({ scope, run, workspace: info.workspace, log, stop, gates, tree: () => tree, added, takeWords })
    const state = stateAfter(cause)
    const at = scope.now()
    log.commit(
      (add) => {
        for (const approval of store.runs.openApprovals(id)) {
          store.runs.answer(approval.id, undefined, at)
          add({ type: 'approval_answer', runId: run.id, approvalId: approval.id })
        }
        store.runs.end(run.id, state, cause, at)
        store.sessions.setState(id, state)
        add({ type: 'agent_end', runId: run.id, state, cause })
      },
      true,
      at
    )
    info = { ...info, state }
    active = undefined
    scope.changed(info)
    scope.ended({ ...run, state, cause, endedAt: at })
    if (cause.kind === 'natural') releaseQueue()
  }

  /** Words that came between the loop's last look and the end of the run begin a run of their own. */
  function releaseQueue(): void {
    const [next] = store.inbox.waiting(id)
    if (!next) return
    startWith(tree.head, next.text, (run, add) => {
      store.inbox.take(id, next.id, run.id, 1)
      add({ type: 'queue', state: 'taken', item: next })
      return true
    })
  }

  /** One at a time: each gets its own answer (spec Q1). */
  function takeWords(turn: number, atEnd: boolean): UserMessage[] {
    const runId = active?.run.id ?? ''
    const due = store.inbox.waiting(id).filter((i) => atEnd || i.kind === 'steer')
    const next = due.find((i) => i.kind === 'steer') ?? due[0]
    if (!next) return []
    const entry = newEntry(tree.head, next.text, scope.now())
    log.commit((add) => {
      store.inbox.take(id, next.id, runId, turn)
      add({ type: 'queue', runId, turn, state: 'taken', item: next })
      store.sessions.addEntry(entry)
      add({ type: 'message_end', runId, turn, entry })
    }, true)
    added(entry)
    return [userMessage(next.text)]
  }

  /** The newest entry that a model can answer; a failed or broken-off answer below it stays as a sibling. Undefined: nothing to answer. */
  function retryFrom(): string | undefined {
    const last = tree.head === null ? undefined : entryOf(tree, tree.head)
    if (!last) return undefined
    if (last.message.role !== 'assistant') return last.id
    const { stopReason } = last.message
    const finished = (stopReason === 'stop' || stopReason === 'calls') && callsOf(last.message).length === 0
    return finished ? undefined : (last.parentId ?? undefined)
  }

  // --- state

  function added(entry: Entry): void {
    tree = addEntry(tree, entry)
    info = { ...info, updatedAt: entry.at }
  }

  function setRunState(state: RunState): void {
    if (!active || info.state === state) return
    const { run } = active
    log.commit((add) => {
      store.runs.setState(run.id, state)
      store.sessions.setState(id, state)
      add({ type: 'state', runId: run.id, state })
    })
    info = { ...info, state }
    scope.changed(info)
  }

  function change(next: Session, write: () => void): Session {
    log.commit((add) => {
      write()
      add({ type: 'session', session: next })
    })
    info = next
    scope.changed(info)
    return info
  }

  function snapshot(): Snapshot {
    const latest = store.runs.latest(id)
    const firstSeq = latest?.firstSeq ?? 1
    return {
      seq: log.lastSeq,
      session: info,
      entries: store.sessions.entries(id),
      head: tree.head,
      ...(latest && { run: latest.run }),
      approvals: store.runs.openApprovals(id),
      queue: store.inbox.waiting(id),
      notices: latest ? store.events.notices(id, firstSeq) : [],
      live: active ? store.events.after(id, firstSeq - 1, Number.MAX_SAFE_INTEGER) : []
    }
  }

  const accepted = (how: Accepted['accepted']): Outcome<Accepted> => ({ ok: true, value: { accepted: how, seq: log.lastSeq } })

  return {
    get info() {
      return info
    },
    snapshot,
    watch: log.watch,
    prompt,
    retry,
    stop() {
      active?.stop.abort()
      return active !== undefined
    },
    answer: (approvalId, answer) =>
      approvals.answer(approvalId, answer)
        ? { ok: true, value: { seq: log.lastSeq } }
        : conflict('This question is not open any more: it was answered, or its run has ended.'),
    withdraw,
    goTo,
    rename: (title) =>
      change({ ...info, title }, () => {
        store.sessions.rename(id, title)
      }),
    archive: (archived) =>
      change({ ...info, archived }, () => {
        store.sessions.archive(id, archived)
      }),
    setModel: (model) =>
      change({ ...info, model }, () => {
        store.sessions.setModel(id, model)
      }),
    async waitForIdle() {
      while (active) await active.done
    }
  }
}

const userMessage = (text: string): UserMessage => ({ role: 'user', parts: [{ type: 'text', text }] })

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
