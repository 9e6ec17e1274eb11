// One session: the only writer of its tree (design §3.2). It takes intents (prompt, stop, answer, go to …), drives the loop with what it keeps,
// and stores and shows what happens.
import { firstLine } from '../../shared/text'
import type { Snapshot } from '../../shared/contract'
import type { SessionEvent } from '../../shared/event'
import { callsOf, type Fault, type UserMessage } from '../../shared/message'
import type { Answer, Entry, InboxItem, Run, RunState, Session, StopCause } from '../../shared/session'
import { addEntry, emptyTree, entryOf, moveHead, type Tree } from '../../shared/tree'
import { type AnyHook, createHooks, type HookReport } from '../loop/hooks'
import { type LoopInput, runLoop } from '../loop/loop'
import type { TaskQueue } from '../loop/queue'
import { createRegistry, type Registry } from '../loop/tool'
import type { Model } from '../models/model'
import { type Budget, overBudget } from '../policy/budget'
import { newId } from '../store/id'
import type { Store } from '../store/store'
import { createApprovals } from './approvals'
import { buildContext, newestMessages } from './context'
import { openLog } from './log'
import { createRecorder } from './recorder'
import { systemPrompt } from './system-prompt'

export interface SessionScope {
  readonly store: Store
  readonly registry: Registry
  readonly queue: TaskQueue
  readonly budget: Budget
  openModel(id: string): Promise<{ ok: true; model: Model } | { ok: false; error: Fault }>
  /** Model for sessions that were made when there was none; empty when there is none still. */
  defaultModel(): string
  now(): number
  report(report: HookReport): void
  /** Title, state, model … changed: for lists. */
  changed(session: Session): void
  /** Something failed that should not: goes to the log. */
  failed(what: string, error: unknown): void
}

/** Why an intent was not followed. */
export type Refusal = { ok: false; code: 'NOT_FOUND' | 'CONFLICT'; message: string }
export type Outcome<T> = { ok: true; value: T } | Refusal

export interface Prompt {
  readonly text: string
  readonly itemId: string
  readonly parentId?: string | null | undefined
  readonly kind?: InboxItem['kind'] | undefined
}

export interface SessionHandle {
  readonly info: Session
  readonly lastSeq: number
  snapshot(): Snapshot
  watch(after: number, signal: AbortSignal): AsyncGenerator<SessionEvent>
  prompt(prompt: Prompt): Outcome<{ accepted: 'started' | 'queued' | 'known'; seq: number }>
  retry(): Outcome<{ seq: number }>
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

const NO_TOOLS = createRegistry([])

/** Opens a stored session; undefined when there is none of that id. */
export function openSession(id: string, scope: SessionScope): SessionHandle | undefined {
  const { store } = scope
  const stored = store.sessions.find(id)
  if (!stored) return undefined
  const { head, ...first } = stored
  let info: Session = first
  let tree: Tree = emptyTree()
  for (const entry of store.sessions.entries(id)) tree = addEntry(tree, entry)
  tree = moveHead(tree, head)
  const log = openLog(store, id, scope.now)
  let active: { run: Run; stop: AbortController; done: Promise<void> } | undefined
  const approvals = createApprovals({
    sessionId: id,
    store,
    log,
    now: scope.now,
    waiting: (is) => {
      setRunState(is ? 'waiting' : 'running')
    }
  })

  function prompt({ text, itemId, parentId, kind }: Prompt): Outcome<{ accepted: 'started' | 'queued' | 'known'; seq: number }> {
    if (parentId !== undefined && parentId !== null && !entryOf(tree, parentId))
      return notFound('There is no such message in this session.')
    if (active && parentId !== undefined) return conflict('A run is going on. Stop it before you branch.')
    const waits = active !== undefined
    let known = false
    let entry: Entry | undefined
    let run: Run | undefined
    log.commit((add) => {
      const at = scope.now()
      known = !store.inbox.add(id, { id: itemId, kind: waits ? (kind ?? 'follow-up') : 'prompt', text, at })
      if (known) return
      if (waits) {
        add({ type: 'queue', state: 'queued', item: { id: itemId, kind: kind ?? 'follow-up', text, at } })
        return
      }
      run = newRun(at)
      store.inbox.take(id, itemId, run.id, 1)
      entry = newEntry(parentId === undefined ? tree.head : parentId, text, at)
      store.sessions.addEntry(entry)
      add({ type: 'message_end', entry })
      if (info.title === '') {
        info = { ...info, title: firstLine(text, 60) }
        store.sessions.rename(id, info.title)
        add({ type: 'session', session: info })
      }
      begin(add, run)
    }, true)
    if (entry) added(entry)
    if (run) start(run)
    return { ok: true, value: { accepted: known ? 'known' : waits ? 'queued' : 'started', seq: log.lastSeq } }
  }

  function retry(): Outcome<{ seq: number }> {
    if (active) return conflict('A run is going on already.')
    const from = retryFrom()
    if (from === undefined) return conflict('There is nothing to answer: write a message.')
    const run = newRun(scope.now())
    log.commit((add) => {
      if (from !== tree.head) {
        store.sessions.setHead(id, from)
        add({ type: 'head', head: from })
      }
      begin(add, run)
    }, true)
    tree = moveHead(tree, from)
    start(run)
    return { ok: true, value: { seq: log.lastSeq } }
  }

  /** The newest entry that a model can answer; a failed or broken-off answer above it stays as a sibling. Undefined: nothing to answer. */
  function retryFrom(): string | undefined {
    const last = tree.head === null ? undefined : entryOf(tree, tree.head)
    if (!last) return undefined
    if (last.message.role !== 'assistant') return last.id
    const finished = last.message.stopReason === 'stop' || last.message.stopReason === 'calls'
    return finished && callsOf(last.message).length === 0 ? undefined : (last.parentId ?? undefined)
  }

  function newRun(at: number): Run {
    return { id: newId(), sessionId: id, state: 'running', model: info.model, turn: 0, startedAt: at }
  }

  function newEntry(parentId: string | null, text: string, at: number): Entry {
    return { id: newId(), sessionId: id, parentId, at, type: 'message', message: userMessage(text) }
  }

  function begin(
    add: (draft: Parameters<Parameters<typeof log.commit>[0]>[0] extends (d: infer D) => unknown ? D : never) => SessionEvent,
    run: Run
  ): void {
    const { seq } = add({ type: 'agent_start', runId: run.id, model: run.model })
    store.runs.insert(run, seq)
    store.sessions.setState(id, 'running')
  }

  function start(run: Run): void {
    const stop = new AbortController()
    info = { ...info, state: 'running' }
    active = { run, stop, done: Promise.resolve() }
    active.done = drive(run, stop).catch((error: unknown) => {
      scope.failed('a run could not be ended', error)
      active = undefined
      info = { ...info, state: 'failed' }
      scope.changed(info)
    })
    scope.changed(info)
  }

  async function drive(run: Run, stop: AbortController): Promise<void> {
    const cause = await perform(run, stop)
    const state = stateAfter(cause)
    const at = scope.now()
    log.commit((add) => {
      for (const approval of store.runs.openApprovals(id)) {
        store.runs.answer(approval.id, undefined, at)
        add({ type: 'approval_answer', runId: run.id, approvalId: approval.id })
      }
      store.runs.end(run.id, state, cause, at)
      store.sessions.setState(id, state)
      add({ type: 'agent_end', runId: run.id, state, cause })
    }, true)
    info = { ...info, state }
    active = undefined
    scope.changed(info)
    if (cause.kind === 'natural') releaseQueue()
  }

  /** Words that came between the loop's last look and the end of the run begin a run of their own. */
  function releaseQueue(): void {
    const [next] = store.inbox.waiting(id)
    if (!next) return
    const run = newRun(scope.now())
    let entry: Entry | undefined
    log.commit((add) => {
      store.inbox.take(id, next.id, run.id, 1)
      add({ type: 'queue', state: 'taken', item: next })
      entry = newEntry(tree.head, next.text, run.startedAt)
      store.sessions.addEntry(entry)
      add({ type: 'message_end', entry })
      begin(add, run)
    }, true)
    if (entry) added(entry)
    start(run)
  }

  async function perform(run: Run, stop: AbortController): Promise<StopCause> {
    const opened = await scope.openModel(run.model)
    if (stop.signal.aborted) return { kind: 'aborted' }
    if (!opened.ok) return { kind: 'error', error: opened.error }
    const { model } = opened
    const registry = model.info.tools ? scope.registry : NO_TOOLS
    const system = systemPrompt(info.workspace, model.info.tools)
    let broken: unknown
    const recorder = createRecorder({
      sessionId: id,
      runId: run.id,
      model: run.model,
      store,
      log,
      registry,
      now: scope.now,
      head: () => tree.head,
      added,
      failed: (error) => {
        broken = error
        stop.abort()
      }
    })
    log.commit((add) => {
      add({ type: 'route', runId: run.id, model: run.model, rule: 'session', why: 'This model was chosen for the session.' })
    })
    const input: LoopInput = {
      runId: run.id,
      model: run.model,
      stream: model.stream,
      history: newestMessages(tree.path, model.contextWindow),
      buildRequest: (messages) => buildContext({ system, messages, tools: registry.specs, window: model.contextWindow }).request,
      workspace: info.workspace,
      registry,
      hooks: createHooks(hooksFor(run), scope.report),
      queue: scope.queue,
      inbox: { take: (turn, atEnd) => takeWords(run, turn, atEnd) },
      signal: stop.signal,
      emit: (event) => {
        recorder.record(event)
      }
    }
    const cause = await runLoop(input)
    recorder.close()
    return broken === undefined
      ? cause
      : { kind: 'error', error: { code: 'store_failed', message: `What was said could not be stored: ${String(broken)}` } }
  }

  function hooksFor(run: Run): AnyHook[] {
    return [
      {
        point: 'turn.start',
        name: 'budget',
        kind: 'gate',
        run: ({ turn }) => {
          const cause = overBudget(scope.budget, turn, scope.now() - run.startedAt)
          return cause && { kind: 'stop', cause }
        }
      },
      approvals.gate
    ]
  }

  function takeWords(run: Run, turn: number, atEnd: boolean): UserMessage[] {
    const words = store.inbox.waiting(id).filter((i) => atEnd || i.kind === 'steer')
    const next = words.find((i) => i.kind === 'steer') ?? words[0] // one at a time: each gets its own answer (spec Q1)
    if (!next) return []
    let entry: Entry | undefined
    log.commit((add) => {
      const at = scope.now()
      store.inbox.take(id, next.id, run.id, turn)
      add({ type: 'queue', runId: run.id, turn, state: 'taken', item: next })
      entry = newEntry(tree.head, next.text, at)
      store.sessions.addEntry(entry)
      add({ type: 'message_end', runId: run.id, turn, entry })
    }, true)
    if (entry) added(entry)
    return [userMessage(next.text)]
  }

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

  return {
    get info() {
      return info
    },
    get lastSeq() {
      return log.lastSeq
    },
    snapshot() {
      const run = store.runs.latest(id)
      const live = active && run ? store.events.after(id, run.firstSeq - 1, Number.MAX_SAFE_INTEGER) : []
      const { firstSeq = 1, ...latest } = run ?? {}
      return {
        seq: log.lastSeq,
        session: info,
        entries: store.sessions.entries(id),
        head: tree.head,
        ...(run && { run: latest as Run }),
        approvals: store.runs.openApprovals(id),
        queue: store.inbox.waiting(id),
        notices: run ? store.events.notices(id, firstSeq) : [],
        live
      }
    },
    watch: (after, signal) => log.watch(after, signal),
    prompt,
    retry,
    stop() {
      active?.stop.abort()
      return active !== undefined
    },
    answer(approvalId, answer) {
      return approvals.answer(approvalId, answer)
        ? { ok: true, value: { seq: log.lastSeq } }
        : conflict('This question is not open any more: it was answered, or its run has ended.')
    },
    withdraw(itemId) {
      let item: InboxItem | undefined
      log.commit((add) => {
        item = store.inbox.withdraw(id, itemId)
        if (item) add({ type: 'queue', state: 'withdrawn', item })
      })
      return item ? { ok: true, value: { text: item.text } } : notFound('This message does not wait any more.')
    },
    goTo(entryId) {
      if (active) return conflict('A run is going on. Stop it first.')
      if (entryId !== null && !entryOf(tree, entryId)) return notFound('There is no such message in this session.')
      log.commit((add) => {
        store.sessions.setHead(id, entryId)
        add({ type: 'head', head: entryId })
      })
      tree = moveHead(tree, entryId)
      return { ok: true, value: { head: entryId } }
    },
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
const notFound = (message: string): Refusal => ({ ok: false, code: 'NOT_FOUND', message })
const conflict = (message: string): Refusal => ({ ok: false, code: 'CONFLICT', message })

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
