// The event protocol of a session (spec H3). Events are the only truth for whoever watches: every view is a fold over them (view.ts).
//
//   agent_start                                  a run begins (ready), `state` says every later step
//     turn_start                                 one model request and the calls that follow from it
//       route                                    which model, and why
//       message_start → message_phase* → message_update* → message_end      the model's answer
//         retry                                  the request failed before its first word and is made again after a while
//       tool_start → [approval_request → approval_answer] → tool_wait* → tool_dispatch → tool_update* → [kept] → tool_end    one a call
//     turn_end                                   with what the run has used so far
//   budget                                       a limit was reached
//   agent_end                                    with the reason
//
// Outside a run: message_end (the person's words), entry, queue, head, label, side, session, notice, kept (an undo). docs/events.md describes each.
import { z } from 'zod'
import { Fault } from './message'
import { Label } from './policy'
import {
  Answer,
  Approval,
  Entry,
  InboxItem,
  ModelPhase,
  Preview,
  Progress,
  RunState,
  Session,
  SideBranch,
  SideEnding,
  Spent,
  StopCause
} from './session'
import { KeptCall } from './undo'

const base = {
  sessionId: z.string(),
  /** Counts from 1 in each session, without gaps. */
  seq: z.number().int().positive(),
  /** Milliseconds since 1970. */
  at: z.number().int(),
  runId: z.string().optional(),
  /** Number of the turn within its run, from 1. */
  turn: z.number().int().optional()
}
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- T keeps the literal, by which events are told apart
const event = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) => z.object({ ...base, type: z.literal(type) }).extend(shape)

export const SessionEvent = z.discriminatedUnion('type', [
  /** Title, model, archive mark … changed. */
  event('session', { session: Session }),
  event('agent_start', { runId: z.string(), model: z.string() }),
  event('state', { runId: z.string(), state: RunState }),
  event('agent_end', { runId: z.string(), state: RunState, cause: StopCause }),
  event('turn_start', { runId: z.string(), turn: z.number().int() }),
  event('turn_end', { runId: z.string(), turn: z.number().int(), spent: Spent }),
  event('budget', { runId: z.string(), budget: z.string(), limit: z.number() }),
  event('route', { runId: z.string(), model: z.string(), rule: z.string(), why: z.string() }),
  /** The model begins an answer; `entryId` is the entry it will be stored as. */
  event('message_start', { entryId: z.string(), parentId: z.string().nullable(), model: z.string() }),
  event('message_phase', { entryId: z.string(), phase: ModelPhase }),
  event('message_update', { entryId: z.string(), part: z.enum(['text', 'thinking']), delta: z.string() }),
  /** The request failed before anything was shown; it is made again `waitMs` from now, as attempt `attempt` of `attempts`. */
  event('retry', { attempt: z.number().int(), attempts: z.number().int(), waitMs: z.number(), error: Fault }),
  /** A message was stored (person, model or tool). The head follows it when it was at its parent. */
  event('message_end', { entry: Entry }),
  /** Another entry was stored; the head follows as above. */
  event('entry', { entry: Entry }),
  /** The model's call was read; nothing ran yet. */
  event('tool_start', {
    callId: z.string(),
    name: z.string(),
    arguments: z.string(),
    label: Label.optional(),
    preview: Preview.optional()
  }),
  /** The call is allowed and waits for its turn behind others of its workspace (names of tools, first to end first); empty: it is its turn. */
  event('tool_wait', { callId: z.string(), behind: z.array(z.object({ sessionId: z.string(), callId: z.string(), tool: z.string() })) }),
  /** The effect begins: after every refusal, just before the tool runs. */
  event('tool_dispatch', { callId: z.string() }),
  event('tool_update', { callId: z.string(), progress: Progress }),
  event('tool_end', { callId: z.string(), code: z.string(), text: z.string(), durationMs: z.number() }),
  /** What a call changed was kept, so that it can be undone; or an undo took place (`isUndo`; then `undone` names the kept calls that it undid). */
  event('kept', { kept: KeptCall, undone: z.array(z.string()) }),
  event('approval_request', { approval: Approval }),
  /** `answer` missing: the request expired with its run. */
  event('approval_answer', { approvalId: z.string(), answer: Answer.optional() }),
  /**
   * A waiting message came, changed (words, kind, place, held) or went. `taken`: a request carries it, in the turn and run of this event, as
   * entry `entryId`. `returned`: its run was stopped before; it is held.
   */
  event('queue', { item: InboxItem, state: z.enum(['queued', 'taken', 'withdrawn', 'returned']), entryId: z.string().optional() }),
  /** The person moved to another node. */
  event('head', { head: z.string().nullable() }),
  /** A name on a node; null takes it away. */
  event('label', { entryId: z.string(), label: z.string().nullable() }),
  /** A side branch began, or ended in the way that `ending` says. */
  event('side', { side: SideBranch, ending: SideEnding.optional() }),
  event('notice', { level: z.enum(['info', 'warning']), code: z.string(), message: z.string() })
])
export type SessionEvent = z.infer<typeof SessionEvent>
export type EventType = SessionEvent['type']
export type EventOf<T extends EventType> = Extract<SessionEvent, { type: T }>

/** An event before the log numbers it. */
export type EventDraft = { [T in EventType]: Omit<EventOf<T>, 'sessionId' | 'seq' | 'at'> }[EventType]
