// What a window draws of one session: a pure fold over its events (design §3.3). A snapshot is the same view made from stored rows; folding
// the events after its `seq` onto it gives the view of one who watched from the start (test/unit/shared/view.test.ts proves it).
import type { EventOf, SessionEvent } from './event'
import { appendText, type AssistantPart } from './message'
import type { Approval, InboxItem, Label, ModelPhase, Notice, Preview, Progress, Run, Session } from './session'
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
  readonly state: 'checking' | 'asking' | 'running' | 'done'
  readonly startedAt: number
  readonly progress?: Progress
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
  readonly queue: readonly InboxItem[]
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
      const run: Run = { id: event.runId, sessionId: event.sessionId, state: 'running', model: event.model, turn: 0, startedAt: event.at }
      return { ...view, run, tools: new Map(), notices: [], session: { ...view.session, state: 'running' } }
    }
    case 'state':
      return { ...withRun(view, { state: event.state }), session: { ...view.session, state: event.state } }
    case 'agent_end': {
      const ended = withRun(view, { state: event.state, cause: event.cause, endedAt: event.at })
      const { draft, route, ...rest } = ended
      return { ...rest, tools: new Map(), approvals: [], session: { ...view.session, state: event.state } }
    }
    case 'turn_start':
      return { ...withRun(view, { turn: event.turn }), tools: new Map() }
    case 'turn_end':
      return view
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
      return endMessage(view, event)
    case 'tool_start':
      return withTool(view, event.callId, () => startTool(event))
    case 'tool_dispatch':
      return withTool(view, event.callId, (card) => ({ ...card, state: 'running', startedAt: event.at }))
    case 'tool_update':
      return withTool(view, event.callId, (card) => ({ ...card, progress: event.progress }))
    case 'tool_end':
      return withTool(view, event.callId, (card) => ({ ...card, state: 'done', code: event.code, durationMs: event.durationMs }))
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
      return { ...view, queue: event.state === 'queued' ? [...others, event.item] : others }
    }
    case 'head':
      return { ...view, tree: moveHead(view.tree, event.head) }
    case 'notice': {
      const { seq, level, code, message } = event
      return { ...view, notices: [...view.notices, { seq, level, code, message }] }
    }
  }
}

function endMessage(view: SessionView, { entry }: EventOf<'message_end'>): SessionView {
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

const withRun = (view: SessionView, change: Partial<Run>): SessionView => (view.run ? { ...view, run: { ...view.run, ...change } } : view)

const withDraft = (view: SessionView, entryId: string, change: (draft: Draft) => Draft): SessionView =>
  view.draft?.entryId === entryId ? { ...view, draft: change(view.draft) } : view

/** `change` gets a card made of nothing but the id when the call was not announced (an event log cut at the front). */
function withTool(view: SessionView, callId: string, change: (card: ToolCard) => ToolCard): SessionView {
  const known = view.tools.get(callId) ?? { callId, name: '', arguments: '', state: 'checking', startedAt: 0 }
  return { ...view, tools: new Map(view.tools).set(callId, change(known)) }
}

/** True while a run is going on. */
export const isBusy = (view: SessionView): boolean => view.session.state === 'running' || view.session.state === 'waiting'
