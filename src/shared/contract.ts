// The API that every host speaks (design §4). Requests are checked going in and coming out; expected failures are typed errors.
import { eventIterator, oc } from '@orpc/contract'
import { z } from 'zod'
import { SessionEvent } from './event'
import { Fault } from './message'
import { Decision, DecisionPart, Grant, Label, Mode, PolicyState } from './policy'
import { Answer, Approval, Entry, InboxItem, Job, Notice, QueueMode, Run, Session, SideBranch, SideEnding, Spent, Work } from './session'
import { KeptCall, UndoPlan, UndoStep, UndoTarget, UndoUsage } from './undo'

/** A model that can be chosen. `ready`: it could answer now; otherwise `fault` says what is missing. */
export const ModelInfo = z.object({
  id: z.string(),
  name: z.string(),
  source: z.enum(['engine', 'ollama', 'scripted']),
  /** Bytes on disk, where known. */
  size: z.number().optional(),
  /** Tokens the model was trained for, where known. */
  contextLength: z.number().optional(),
  tools: z.boolean(),
  /** Whether it sees pictures; missing: unknown, taken as no. */
  vision: z.boolean().optional(),
  ready: z.boolean(),
  fault: Fault.optional()
})

/** The starter model (the one Tau fetches by itself): how far it is. Times in seconds, sizes in bytes. */
export const StarterState = z.discriminatedUnion('state', [
  z.object({ state: z.literal('absent') }),
  z.object({
    state: z.literal('fetching'),
    step: z.enum(['finding', 'downloading', 'checking', 'unpacking']),
    done: z.number(),
    total: z.number(),
    secondsLeft: z.number().optional()
  }),
  z.object({ state: z.literal('ready') }),
  z.object({ state: z.literal('failed'), error: Fault })
])

/** The embedded engine's process. */
export const EngineState = z.object({
  state: z.enum(['stopped', 'starting', 'running', 'crashed', 'unavailable']),
  model: z.string().optional(),
  error: Fault.optional()
})

export const AppState = z.object({
  version: z.string(),
  host: z.enum(['desktop', 'web', 'cli', 'test']),
  home: z.string(),
  /** Folder that new sessions work in. */
  workspace: z.string(),
  /** Model that new sessions use; empty when there is none. */
  defaultModel: z.string(),
  models: z.array(ModelInfo),
  starter: StarterState,
  engine: EngineState,
  /** Whether a real Ollama answers, and where. */
  ollama: z.object({ reachable: z.boolean(), url: z.string() }),
  /** `read-only`: nothing can be stored at all. `full`, `busy`, `failing`: what runs waits until it can; `message` says what to do. */
  storage: z.object({ state: z.enum(['ok', 'full', 'busy', 'failing', 'read-only']), message: z.string() }),
  /** The system's sandbox that commands run in; `none`: why, in words. */
  sandbox: z.object({ kind: z.enum(['bubblewrap', 'none']), why: z.string().optional() }),
  policy: PolicyState,
  /** What happened to the data when it was opened: `salvaged`, `torn_tail`, `read_only`. */
  notices: z.array(Fault)
})

/** The whole state comes first; after that only what changed. */
export const AppEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('app'), app: AppState }),
  z.object({ type: z.literal('sessions'), sessions: z.array(Session) }),
  z.object({ type: z.literal('session'), session: Session }),
  /** All calls that wait or run now, of every session, in the order of their queues. */
  z.object({ type: z.literal('work'), work: z.array(Work) }),
  /** All background jobs that this process knows. */
  z.object({ type: z.literal('jobs'), jobs: z.array(Job) })
])

/** A part of a session's path: entries with parents before children, and by parent the ids of all children where there are several. */
const Page = z.object({
  entries: z.array(Entry),
  beside: z.record(z.string(), z.array(z.string())),
  /** Whether the path goes on before the first of `entries`. */
  more: z.boolean()
})

/** A session as stored rows, for one who comes in the middle; `seq` is the last event it contains. */
export const Snapshot = Page.extend({
  seq: z.number().int(),
  session: Session,
  head: z.string().nullable(),
  run: Run.optional(),
  approvals: z.array(Approval),
  queue: z.array(InboxItem),
  notices: z.array(Notice),
  /** Names on nodes, by entry id. */
  labels: z.record(z.string(), z.string()),
  sides: z.array(SideBranch),
  kept: z.array(KeptCall),
  /** Events of the run that is going on, from its start up to `seq`; none when no run is going on. */
  live: z.array(SessionEvent)
})

/** A node of the tree without its words: enough to draw, find and jump. */
export const TreeNode = z.object({
  id: z.string(),
  parentId: z.string().nullable(),
  at: z.number().int(),
  /** `user`, `assistant`, `tool` for messages, else the entry's type. */
  kind: z.string(),
  /** First words, at most 120 characters. */
  text: z.string(),
  label: z.string().optional()
})

/** A call of a run as the journal knows it. `unknown`: dispatched, and nothing is known of its end. */
const JournalEntry = z.object({
  callId: z.string(),
  turn: z.number().int(),
  name: z.string(),
  state: z.enum(['not_started', 'unknown', 'done']),
  code: z.string().optional()
})
export const RunReport = z.object({ run: Run, calls: z.array(JournalEntry) })

/** How much a run may use before it stops; what is missing keeps its default. Money in US dollars, time in milliseconds. */
export const Allowance = Spent.partial()

/** A call to be judged; in a session its workspace, mode and grants hold, unless others are named. */
export const PolicyTest = z.object({
  sessionId: z.string().optional(),
  workspace: z.string().optional(),
  mode: Mode.optional(),
  call: z.union([z.object({ command: z.string().max(200_000) }), z.object({ tool: z.string(), arguments: z.unknown() })])
})
export const PolicyVerdict = z.object({ tool: z.string(), label: Label, decision: Decision, parts: z.array(DecisionPart) })

const SessionId = z.object({ sessionId: z.string() })
const Words = z.string().trim().min(1).max(1_000_000)

const api = oc.errors({
  /** No such session, entry, approval or queued message. */
  NOT_FOUND: {},
  /** Not possible in the present state (a run is going on, nothing to retry …). */
  CONFLICT: {},
  /** The model, folder or file that was named cannot be used. */
  UNUSABLE: {},
  /** It could not be stored (the disk is full, or cannot be written), so nothing of it happened. */
  UNSTORED: {},
  /** The model that was asked for a summary failed. */
  MODEL_FAILED: {}
})
const Done = z.object({ seq: z.number().int() })

export const contract = {
  app: {
    watch: api.output(eventIterator(AppEvent)),
    /** Looks again for Ollama, weights and the starter. */
    refresh: api.output(AppState),
    /** Fetches the starter model; progress comes as app events. Asking twice fetches once. */
    fetchStarter: api.output(StarterState),
    /** Stops the engine; it starts again with the next prompt. */
    restartEngine: api.output(EngineState),
    /** Brings the app before the person's eyes: what a second start does. `url`: a link to it that works once, where the host has one. */
    show: api.output(z.object({ url: z.string().optional(), host: z.string() }))
  },
  sessions: {
    /** `binned`: those in the bin, whatever else they are. */
    list: api.input(z.object({ archived: z.boolean().optional(), binned: z.boolean().optional() })).output(z.array(Session)),
    create: api
      .input(
        z.object({
          title: z.string().max(200).optional(),
          workspace: z.string().optional(),
          model: z.string().optional(),
          /** The guided tour in that language: a session in a sample folder with a scripted model. */
          tour: z.enum(['en', 'zh']).optional()
        })
      )
      .output(Session),
    rename: api.input(SessionId.extend({ title: z.string().trim().min(1).max(200) })).output(Session),
    archive: api.input(SessionId.extend({ archived: z.boolean() })).output(Session),
    setModel: api.input(SessionId.extend({ model: z.string() })).output(Session),
    /** What it may do without asking; counts from the next call on. */
    setMode: api.input(SessionId.extend({ mode: Mode })).output(Session),
    setQueueModes: api.input(SessionId.extend({ steer: QueueMode.optional(), followUp: QueueMode.optional() })).output(Session),
    /** Puts a session into the bin: it stops, and is kept until it is purged. */
    bin: api.input(SessionId).output(Session),
    restore: api.input(SessionId).output(Session),
    /** Deletes a session of the bin for good. */
    purge: api.input(SessionId).output(z.object({ purged: z.boolean() })),
    /** A new session with the path to an entry; `branches`: and with every branch that leaves that path. */
    fork: api.input(SessionId.extend({ entryId: z.string(), branches: z.boolean().optional() })).output(Session),
    /** Names a node; an empty label takes the name away. */
    label: api.input(SessionId.extend({ entryId: z.string(), label: z.string().trim().max(200) })).output(Done),
    /** The newest part of the path to the head, and all that goes on now. */
    open: api.input(SessionId).output(Snapshot),
    /** What comes before an entry on its path, at most `limit` entries. */
    older: api.input(SessionId.extend({ before: z.string(), limit: z.number().int().min(1).max(2_000) })).output(Page),
    /** The whole tree without its words, in the order it was stored. */
    tree: api.input(SessionId).output(z.array(TreeNode)),
    /** Messages of any session that contain the words, newest first. */
    search: api
      .input(z.object({ words: z.string().trim().min(1).max(1_000), limit: z.number().int().min(1).max(200).optional() }))
      .output(z.array(TreeNode.extend({ sessionId: z.string() }))),
    /** Every run, oldest first, with its journal. */
    runs: api.input(SessionId).output(z.array(RunReport)),
    /** The stored events of one run, in order. */
    replay: api.input(SessionId.extend({ runId: z.string() })).output(eventIterator(SessionEvent)),
    /** The whole tree as a file, in pieces of text. */
    export: api.input(SessionId.extend({ format: z.enum(['pi', 'json', 'markdown']) })).output(eventIterator(z.string())),
    /** A session from the text of a Pi session file or of Tau's JSON. `bad`: lines that could not be read, by number from 1. */
    import: api
      .input(z.object({ text: z.string(), workspace: z.string().optional() }))
      .output(
        z.object({ session: Session, entries: z.number().int(), bad: z.array(z.object({ line: z.number().int(), why: z.string() })) })
      ),
    /** Events after `after`, then those to come. */
    watch: api.input(SessionId.extend({ after: z.number().int().nonnegative() })).output(eventIterator(SessionEvent))
  },
  run: {
    /**
     * Hands a message to the session. With `parentId` the message becomes a new child there (edit-and-resend, branch); without it, it
     * follows the head. While a run is going on it waits in the queue as `kind` says. `itemId` makes sending twice the same as once.
     */
    prompt: api
      .input(
        SessionId.extend({
          text: Words,
          itemId: z.string().min(1).max(64),
          parentId: z.string().nullable().optional(),
          kind: InboxItem.shape.kind.optional()
        })
      )
      .output(z.object({ accepted: z.enum(['started', 'queued', 'known']), seq: z.number().int() })),
    /**
     * Goes on from the head without new words: after an error, a stop, a budget (which starts anew, with `more` in place of its defaults) or
     * a crash. Calls that were not done are done; those that may have happened and must not happen twice are asked about first.
     */
    retry: api.input(SessionId.extend({ more: Allowance.optional() })).output(Done),
    /** Ends the run; what was finished stays, what waits in the queue is held. */
    stop: api.input(SessionId).output(z.object({ stopped: z.boolean() })),
    /** Stops one call that waits or runs; its result says so, and the run goes on. False when it was over. */
    cancelCall: api.input(SessionId.extend({ callId: z.string() })).output(z.object({ cancelled: z.boolean() })),
    /** Answers an approval; an answer to one that is answered already is a CONFLICT, and a grant that does not fit the call is UNUSABLE. */
    answer: api.input(SessionId.extend({ approvalId: z.string(), answer: Answer })).output(Done),
    /**
     * Moves the head to an entry (null: before the first); nothing is deleted, and a run goes on where it is. `leaf`: to the newest entry below
     * it. `summary`: the branch that is left is summed up by one request, and the summary becomes the head there.
     */
    goTo: api
      .input(SessionId.extend({ entryId: z.string().nullable(), leaf: z.boolean().optional(), summary: z.boolean().optional() }))
      .output(z.object({ head: z.string().nullable() }))
  },
  queue: {
    /** Takes a waiting message back. */
    withdraw: api.input(SessionId.extend({ itemId: z.string() })).output(z.object({ text: z.string() })),
    /** Other words, or another kind. */
    edit: api
      .input(SessionId.extend({ itemId: z.string(), text: Words.optional(), kind: InboxItem.shape.kind.optional() }))
      .output(InboxItem),
    /** Moves a message before another, or to the end. */
    move: api.input(SessionId.extend({ itemId: z.string(), before: z.string().nullable() })).output(InboxItem),
    /** Lets held messages go: all of them, or one. The first begins a run when none is going on. */
    release: api.input(SessionId.extend({ itemId: z.string().optional() })).output(Done)
  },
  policy: {
    /** Reads the policy file again and says what is in it. */
    show: api.output(PolicyState),
    /** What would be decided, and why: of a command, or of a call of a tool. Nothing runs, nothing is asked. */
    test: api.input(PolicyTest).output(PolicyVerdict),
    grants: api.output(z.array(Grant)),
    /** Takes a grant back; calls that run already go on. */
    revoke: api.input(z.object({ grantId: z.string() })).output(z.object({ revoked: z.boolean() }))
  },
  undo: {
    /** Calls of a session whose effects were kept, newest first. */
    list: api.input(SessionId).output(z.array(KeptCall)),
    /** What an undo would do, file by file; nothing is changed. */
    plan: api.input(SessionId.extend({ target: UndoTarget })).output(UndoPlan),
    /** Does what a plan said, file by file; a file that changed since is left as it is, and said. The undo can itself be undone. */
    apply: api.input(SessionId.extend({ token: z.string() })).output(z.object({ kept: KeptCall.optional(), steps: z.array(UndoStep) })),
    usage: api.output(UndoUsage),
    /** Forgets all that is kept: nothing of before can be undone then. */
    clear: api.output(UndoUsage)
  },
  jobs: {
    /** The newest output of a background job, at most `lines` lines, inert. */
    read: api
      .input(z.object({ jobId: z.string(), lines: z.number().int().min(1).max(2_000) }))
      .output(z.object({ job: Job, text: z.string() })),
    stop: api.input(z.object({ jobId: z.string() })).output(Job)
  },
  /** The whole of an output of which the model got a part, by lines from 1. */
  output: {
    read: api
      .input(z.object({ ref: z.string(), from: z.number().int().min(1), lines: z.number().int().min(1).max(5_000) }))
      .output(z.object({ text: z.string(), more: z.boolean(), bytes: z.number() }))
  },
  side: {
    /** Begins a side branch at an entry (default: the head); the head goes there. */
    begin: api
      .input(SessionId.extend({ entryId: z.string().nullable().optional(), name: z.string().trim().max(200).optional() }))
      .output(SideBranch),
    /** Ends it; the head goes home (after `keep` and `discard` to where it was, after the others to what came home). */
    end: api.input(SessionId.extend({ sideId: z.string(), ending: SideEnding })).output(z.object({ head: z.string().nullable() }))
  }
}

export type ModelInfo = z.infer<typeof ModelInfo>
export type StarterState = z.infer<typeof StarterState>
export type EngineState = z.infer<typeof EngineState>
export type AppState = z.infer<typeof AppState>
export type AppEvent = z.infer<typeof AppEvent>
export type Snapshot = z.infer<typeof Snapshot>
export type TreeNode = z.infer<typeof TreeNode>
export type RunReport = z.infer<typeof RunReport>
export type PolicyTest = z.infer<typeof PolicyTest>
export type PolicyVerdict = z.infer<typeof PolicyVerdict>
export type Allowance = z.infer<typeof Allowance>
export type Page = z.infer<typeof Page>
