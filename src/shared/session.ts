// The things a session is made of, as they are stored and as they cross the API.
import { z } from 'zod'
import { Fault, Message } from './message'
import { Decision, Label, Mode, Rule } from './policy'

const node = {
  id: z.string(),
  sessionId: z.string(),
  /** Null marks a root. */
  parentId: z.string().nullable(),
  /** Milliseconds since 1970. Order in a session comes from parents, never from times. */
  at: z.number().int()
}

/** A node of a session's tree. Never changed or deleted while its session lives (design §3.1). */
export const Entry = z.discriminatedUnion('type', [
  z.object({ ...node, type: z.literal('message'), message: Message }),
  /** Stands for everything before `keepsFrom` (an entry on the path to it; null: for all of it). */
  z.object({ ...node, type: z.literal('compaction'), summary: z.string(), keepsFrom: z.string().nullable() }),
  /** What happened on a branch that was left; `from` was its newest entry, and may be of another session. */
  z.object({
    ...node,
    type: z.literal('branch_summary'),
    summary: z.string(),
    from: z.string(),
    files: z.object({ read: z.array(z.string()), changed: z.array(z.string()) }),
    /** Model that wrote it; empty when it was imported. */
    model: z.string()
  }),
  /** Replaces an earlier message on the path in what the model sees (null: hides it); the message itself stays. */
  z.object({ ...node, type: z.literal('edit'), targetId: z.string(), message: Message.nullable() }),
  z.object({ ...node, type: z.literal('model_change'), model: z.string() }),
  /** Kept for the file it came from; `what` is its type there. Means nothing to a model. */
  z.object({ ...node, type: z.literal('imported'), what: z.string() })
])

/** Life of a run: ready → running ⇄ waiting (for a person) or needs-retry (of a request) → one of the four ends (spec L2). */
export const RunState = z.enum(['ready', 'running', 'waiting', 'needs-retry', 'completed', 'failed', 'cancelled', 'interrupted'])

/** Every stop has a reason (design §3.7). */
export const StopCause = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('natural') }),
  /** `by`: name of the hook that ended it. */
  z.object({ kind: z.literal('terminated'), by: z.string(), reason: z.string().optional() }),
  z.object({ kind: z.literal('budget'), budget: z.string(), limit: z.number() }),
  /** The same call with the same result, `times` times; `tool` is its name. */
  z.object({ kind: z.literal('repetition'), tool: z.string().optional(), times: z.number().int().optional() }),
  z.object({ kind: z.literal('aborted') }),
  z.object({ kind: z.literal('error'), error: Fault }),
  z.object({ kind: z.literal('interrupted') })
])

/** What a run has used; of a run that continues another, only its own. Cost in US dollars. */
export const Spent = z.object({
  turns: z.number().int(),
  calls: z.number().int(),
  tokens: z.number().int(),
  cost: z.number(),
  wallMs: z.number()
})

export const Run = z.object({
  id: z.string(),
  sessionId: z.string(),
  state: RunState,
  cause: StopCause.optional(),
  model: z.string(),
  turn: z.number().int(),
  startedAt: z.number().int(),
  endedAt: z.number().int().optional(),
  spent: Spent.optional()
})

/** How many of the waiting messages of a kind go at once (spec Q1). */
export const QueueMode = z.enum(['one-at-a-time', 'all'])

export const Session = z.object({
  id: z.string(),
  /** Empty until the person names it or the first prompt does. */
  title: z.string(),
  /** Absolute path of the folder that its tools may see. */
  workspace: z.string(),
  /** Model id (`engine:…`, `ollama:…`, `scripted:…`). */
  model: z.string(),
  archived: z.boolean(),
  /** What it may do without asking. */
  mode: Mode,
  /** When it was put into the bin; missing while it is not there. */
  binnedAt: z.number().int().optional(),
  /** Where it was forked from. */
  forkedFrom: z.object({ sessionId: z.string(), entryId: z.string() }).optional(),
  steerMode: QueueMode,
  followUpMode: QueueMode,
  createdAt: z.number().int(),
  updatedAt: z.number().int(),
  /** State of the latest run; `ready` when there was none. */
  state: RunState
})

/** What would happen, as exactly as the tool can say before it happens. Paths are absolute. */
export const Preview = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('file'),
    /** Path that would change. */
    path: z.string(),
    change: z.enum(['create', 'replace', 'edit', 'move', 'delete']),
    /** Where it would go, of a move. */
    to: z.string().optional(),
    /** Unified diff without a file header; empty when no text would change. */
    diff: z.string(),
    added: z.number().int(),
    removed: z.number().int()
  }),
  z.object({
    kind: z.literal('command'),
    /** The whole line, as the shell would get it. */
    command: z.string(),
    /** Folder that it would run in. */
    cwd: z.string(),
    /** Whether it asks for the network. */
    network: z.boolean(),
    background: z.boolean(),
    /** The system's sandbox that it would run in; `none`: it may do all that the person may. */
    sandbox: z.enum(['bubblewrap', 'none']),
    /** Why there is none. */
    sandboxWhy: z.string().optional()
  }),
  z.object({ kind: z.literal('url'), method: z.string(), url: z.string() }),
  /** The model asks the person something; the answer is a `reply`. */
  z.object({ kind: z.literal('question'), question: z.string(), choices: z.array(z.string()) }),
  z.object({ kind: z.literal('arguments') })
])

export const Approval = z.object({
  id: z.string(),
  runId: z.string(),
  callId: z.string(),
  tool: z.string(),
  label: Label,
  arguments: z.string(),
  preview: Preview,
  /** Which rule asks, why, and what the call may touch; missing in questions of former versions. */
  decision: Decision.optional(),
  /** The rule that `session` and `always` would store unless the person changes it; missing: nothing sensible can be granted beyond this call. */
  grant: Rule.optional(),
  /** The call was going on when Tau ended: it may have had its effect already, and this asks whether to run it again. */
  again: z.boolean().optional(),
  askedAt: z.number().int()
})

/**
 * `once`: exactly the bytes that were shown. `session`, `always`: also what `rule` (default: the approval's `grant`) lets through, in this
 * session or in this workspace. The reason of a denial is read by the model. `reply`: the answer to a question of the model.
 */
export const Answer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('allow'), scope: z.enum(['once', 'session', 'always']), rule: Rule.optional() }),
  z.object({ kind: z.literal('deny'), reason: z.string().max(2_000) }),
  z.object({ kind: z.literal('reply'), text: z.string().trim().min(1).max(20_000) })
])

/** A call that waits for its turn or runs, in the queue that all sessions of a workspace share (spec T5). */
export const Work = z.object({
  id: z.string(),
  sessionId: z.string(),
  runId: z.string(),
  callId: z.string(),
  tool: z.string(),
  /** Folder whose queue it is in. */
  workspace: z.string(),
  /** It has effects, so nothing else of its queue runs beside it. */
  exclusive: z.boolean(),
  state: z.enum(['waiting', 'running']),
  /** Ids of the work that must end before it. */
  behind: z.array(z.string()),
  since: z.number().int()
})

/** A command that goes on in the background. */
export const Job = z.object({
  id: z.string(),
  sessionId: z.string(),
  command: z.string(),
  state: z.enum(['running', 'exited', 'stopped', 'failed']),
  exitCode: z.number().int().optional(),
  startedAt: z.number().int(),
  endedAt: z.number().int().optional(),
  /** Last line of its output, inert. */
  lastLine: z.string(),
  bytes: z.number()
})

/**
 * A message of the person that waits for its turn (spec Q1). `steer`: taken before the next request; `follow-up`: when the run would end;
 * `interrupt`: ends the present turn, keeps what finished, and is taken at once.
 */
export const InboxItem = z.object({
  id: z.string(),
  kind: z.enum(['steer', 'follow-up', 'interrupt']),
  text: z.string(),
  at: z.number().int(),
  /** Where it stands in the queue: smaller goes first. */
  position: z.number(),
  /** Waits for the person to let it go: its run was ended by a crash or a stop. */
  held: z.boolean(),
  /** Where it is to be said (null: at the root); missing: wherever the run is. */
  parentId: z.string().nullable().optional()
})

/** A branch beside the conversation, with a point to return to. `home` was the head when it began. */
export const SideBranch = z.object({
  id: z.string(),
  /** Entry it began at; null: before the first. */
  from: z.string().nullable(),
  home: z.string().nullable(),
  name: z.string(),
  startedAt: z.number().int()
})

/** How a side branch ends: forgotten, kept as an ordinary branch, its summary brought home, or its messages brought home whole. */
export const SideEnding = z.enum(['discard', 'keep', 'summary', 'insert'])

/** What a model is doing before its first word; `progress` from 0 to 1 where the server tells. */
export const ModelPhase = z.object({
  phase: z.enum(['queued', 'loading', 'reading', 'writing']),
  progress: z.number().min(0).max(1).optional()
})

/** Progress of a tool (spec H6); `total` where it is known. */
export const Progress = z.object({ done: z.number(), total: z.number().optional(), text: z.string().optional() })

/** Something that happened beside the conversation and that the person should know. */
export const Notice = z.object({ seq: z.number().int(), level: z.enum(['info', 'warning']), code: z.string(), message: z.string() })

export type Entry = z.infer<typeof Entry>
export type RunState = z.infer<typeof RunState>
export type StopCause = z.infer<typeof StopCause>
export type Run = z.infer<typeof Run>
export type Session = z.infer<typeof Session>
export type Work = z.infer<typeof Work>
export type Job = z.infer<typeof Job>
export type Preview = z.infer<typeof Preview>
export type Approval = z.infer<typeof Approval>
export type Answer = z.infer<typeof Answer>
export type InboxItem = z.infer<typeof InboxItem>
export type ModelPhase = z.infer<typeof ModelPhase>
export type Notice = z.infer<typeof Notice>
export type Progress = z.infer<typeof Progress>
export type Spent = z.infer<typeof Spent>
export type QueueMode = z.infer<typeof QueueMode>
export type SideBranch = z.infer<typeof SideBranch>
export type SideEnding = z.infer<typeof SideEnding>
export type MessageEntry = Extract<Entry, { type: 'message' }>
