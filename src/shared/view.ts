// What a window draws of one session: a pure fold over its events (design §3.3). A snapshot is the same view made from stored rows; folding
// the events after its `seq` onto it gives the view of one who watched from the start (test/unit/shared/view.test.ts proves it).
import type { EventOf, SessionEvent } from './event'
import { appendText, type AssistantPart, type Fault } from './message'
import type { Approval, Entry, InboxItem, ModelPhase, Notice, Preview, Progress, Run, RunState, Session, SideBranch } from './session'
import type { KeptCall } from './undo'
import type { Label } from './policy'
import { toArray } from './list'
import { addEntry, emptyTree, moveHead, type Tree } from './tree'

/** An answer that is being written. */
export interface Draft {
  readonly entryId: string
  readonly parentId: string | null
  readonly model: string
  readonly at: number
  readonly parts: readonly AssistantPart[]
  readonly phase: ModelPhase
}

/** One call between the model's words and its result. */
export interface ToolCard {
  readonly callId: string
  readonly name: string
  readonly arguments: string
  readonly label?: Label
  readonly preview?: Preview
  readonly state: 'checking' | 'asking' | 'waiting' | 'running' | 'done'
  readonly startedAt: number
  readonly progress?: Progress
  /** Calls that must end before it may run. */
  readonly behind?: readonly { readonly sessionId: string; readonly callId: string; readonly tool: string }[]
  readonly code?: string
  readonly durationMs?: number
}

export interface SessionView {
  readonly seq: number
  readonly session: Session
  readonly tree: Tree
  readonly run?: Run
  readonly draft?: Draft
  /** Calls of the turn that is going on, by id; earlier ones are drawn from their entries. */
  readonly tools: ReadonlyMap<string, ToolCard>
  /** Open approvals, oldest first. */
  readonly approvals: readonly Approval[]
  /** Waiting messages, in the order in which they will go. */
  readonly queue: readonly InboxItem[]
  /** Names on nodes, by entry id. */
  readonly labels: ReadonlyMap<string, string>
  /** Side branches that have not ended, oldest first. */
  readonly sides: readonly SideBranch[]
  /** The request failed and is made again at `until` (milliseconds since 1970). */
  readonly retry?: { readonly attempt: number; readonly attempts: number; readonly until: number; readonly error: Fault }
  /** Calls whose effects can be undone or were, by the id of their call, and undos by their own id. */
  readonly kept: ReadonlyMap<string, KeptCall>
  /** What was worth saying since the latest run began, oldest first. */
  readonly notices: readonly Notice[]
  readonly route?: { readonly model: string; readonly rule: string; readonly why: string }
}

export const emptyView = (session: Session): SessionView => ({
  seq: 0,
  session,
  tree: emptyTree(),
  tools: new Map(),
  approvals: [],
  queue: [],
  labels: new Map(),
  sides: [],
  kept: new Map(),
  notices: []
})

/** Folds one event; an event that was seen already changes nothing. The caller checks for gaps: `event.seq` must be `view.seq + 1`. */
export function fold(view: SessionView, event: SessionEvent): SessionView {
  if (event.seq <= view.seq) return view
  return { ...step(view, event), seq: event.seq }
}

function step(view: SessionView, event: SessionEvent): SessionView {
  switch (event.type) {
    case 'session':
      return { ...view, session: { ...event.session, state: view.session.state } }
    case 'agent_start': {
      const run: Run = { id: event.runId, sessionId: event.sessionId, state: 'ready', model: event.model, turn: 0, startedAt: event.at }
      return { ...view, run, tools: new Map(), notices: [], session: { ...view.session, state: 'ready' } }
    }
    case 'state': {
      const { retry, ...rest } = view
      return {
        ...withRun(event.state === 'needs-retry' ? view : rest, { state: event.state }),
        session: { ...view.session, state: event.state }
      }
    }
    case 'agent_end': {
      const ended = withRun(view, { state: event.state, cause: event.cause, endedAt: event.at })
      const { draft, route, retry, ...rest } = ended
      return { ...rest, tools: new Map(), approvals: [], session: { ...view.session, state: event.state } }
    }
    case 'turn_start':
      return { ...withRun(view, { turn: event.turn }), tools: new Map() }
    case 'turn_end':
      return withRun(view, { spent: event.spent })
    case 'budget':
      return view // the end of the run says it
    case 'retry': {
      const { attempt, attempts, waitMs, error } = event
      const { draft, ...rest } = view // nothing of it was shown
      return { ...rest, retry: { attempt, attempts, until: event.at + waitMs, error } }
    }
    case 'route':
      return { ...view, route: { model: event.model, rule: event.rule, why: event.why } }
    case 'message_start': {
      const { entryId, parentId, model, at } = event
      return { ...view, draft: { entryId, parentId, model, at, parts: [], phase: { phase: 'queued' } } }
    }
    case 'message_phase':
      return withDraft(view, event.entryId, (draft) => ({ ...draft, phase: event.phase }))
    case 'message_update':
      return withDraft(view, event.entryId, (draft) => ({
        ...draft,
        parts: appendText(draft.parts, event.part, event.delta),
        phase: { phase: 'writing' }
      }))
    case 'message_end':
    case 'entry':
      return endEntry(view, event.entry)
    case 'tool_start':
      return withTool(view, event.callId, () => startTool(event))
    case 'tool_wait':
      return withTool(view, event.callId, (card) => ({ ...card, state: 'waiting', behind: event.behind }))
    case 'tool_dispatch':
      return withTool(view, event.callId, ({ behind, ...card }) => ({ ...card, state: 'running', startedAt: event.at }))
    case 'tool_update':
      return withTool(view, event.callId, (card) => ({ ...card, progress: event.progress }))
    case 'tool_end':
      return withTool(view, event.callId, (card) => ({ ...card, state: 'done', code: event.code, durationMs: event.durationMs }))
    case 'kept':
      return { ...view, kept: withKept(view.kept, event.kept, event.undone) }
    case 'approval_request': {
      const asked = withTool(view, event.approval.callId, (card) => ({ ...card, state: 'asking', preview: event.approval.preview }))
      return { ...asked, approvals: [...view.approvals, event.approval] }
    }
    case 'approval_answer': {
      const answered = view.approvals.find((a) => a.id === event.approvalId)
      const rest = { ...view, approvals: view.approvals.filter((a) => a.id !== event.approvalId) }
      return answered ? withTool(rest, answered.callId, (card) => ({ ...card, state: 'checking' })) : rest
    }
    case 'queue': {
      const others = view.queue.filter((i) => i.id !== event.item.id)
      if (event.state === 'taken' || event.state === 'withdrawn') return { ...view, queue: others }
      return { ...view, queue: [...others, event.item].sort((a, b) => a.position - b.position) }
    }
    case 'head':
      return { ...view, tree: moveHead(view.tree, event.head) }
    case 'label': {
      const labels = new Map(view.labels)
      if (event.label === null) labels.delete(event.entryId)
      else labels.set(event.entryId, event.label)
      return { ...view, labels }
    }
    case 'side': {
      const others = view.sides.filter((s) => s.id !== event.side.id)
      return { ...view, sides: event.ending === undefined ? [...others, event.side] : others }
    }
    case 'notice': {
      const { seq, level, code, message } = event
      return { ...view, notices: [...view.notices, { seq, level, code, message }] }
    }
  }
}

function endEntry(view: SessionView, entry: Entry): SessionView {
  const session = { ...view.session, updatedAt: entry.at }
  const grown = { ...view, session, tree: addEntry(view.tree, entry) }
  if (view.draft?.entryId !== entry.id) return grown
  const { draft, ...rest } = grown
  return rest
}

const startTool = (event: EventOf<'tool_start'>): ToolCard => ({
  callId: event.callId,
  name: event.name,
  arguments: event.arguments,
  ...(event.label && { label: event.label }),
  ...(event.preview && { preview: event.preview }),
  state: 'checking',
  startedAt: event.at
})

/** By the id of the call; an undo, which no call made, by its own id. */
export const keptKey = (kept: KeptCall): string => (kept.isUndo ? kept.id : kept.callId)

function withKept(known: SessionView['kept'], kept: KeptCall, undone: readonly string[]): SessionView['kept'] {
  const next = new Map(known).set(keptKey(kept), kept)
  for (const [key, { undoneBy, ...old }] of next) {
    if (undone.includes(old.id)) next.set(key, { ...old, undoneBy: kept.id })
    // what undid it was itself undone: it holds again
    else if (undoneBy !== undefined && undone.includes(undoneBy)) next.set(key, old)
  }
  return next
}

const withRun = (view: SessionView, change: Partial<Run>): SessionView => (view.run ? { ...view, run: { ...view.run, ...change } } : view)

const withDraft = (view: SessionView, entryId: string, change: (draft: Draft) => Draft): SessionView =>
  view.draft?.entryId === entryId ? { ...view, draft: change(view.draft) } : view

/** `change` gets a card made of nothing but the id when the call was not announced (an event log cut at the front). */
function withTool(view: SessionView, callId: string, change: (card: ToolCard) => ToolCard): SessionView {
  const known = view.tools.get(callId) ?? { callId, name: '', arguments: '', state: 'checking', startedAt: 0 }
  return { ...view, tools: new Map(view.tools).set(callId, change(known)) }
}

/** A view as plain data, for printing and comparing: maps become lists, shared lists what they show. */
export function plainView({ tree, tools, labels, kept, ...rest }: SessionView): unknown {
  const { head, path, entries } = tree
  return {
    ...rest,
    tree: { head, path: toArray(path), entries: toArray(entries) },
    tools: [...tools.values()],
    labels: [...labels],
    kept: [...kept.values()]
  }
}

/** States of a run that has not ended. `ready` is also the state of a session that never had one. */
const GOING: ReadonlySet<RunState> = new Set(['ready', 'running', 'waiting', 'needs-retry'])
/** True while a run is going on. */
export const isBusy = (view: SessionView): boolean => view.run !== undefined && GOING.has(view.run.state)
