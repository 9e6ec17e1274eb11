// The API that every host speaks (design §4). Requests are checked going in and coming out; expected failures are typed errors.
import { eventIterator, oc } from '@orpc/contract'
import { z } from 'zod'
import { SessionEvent } from './event'
import { Fault } from './message'
import { Answer, Approval, Entry, InboxItem, Notice, Run, Session } from './session'

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
  ollama: z.object({ reachable: z.boolean(), url: z.string() })
})

/** The whole state comes first; after that only what changed. */
export const AppEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('app'), app: AppState }),
  z.object({ type: z.literal('sessions'), sessions: z.array(Session) }),
  z.object({ type: z.literal('session'), session: Session })
])

/** A session as stored rows, for one who comes in the middle; `seq` is the last event it contains. */
export const Snapshot = z.object({
  seq: z.number().int(),
  session: Session,
  entries: z.array(Entry),
  head: z.string().nullable(),
  run: Run.optional(),
  approvals: z.array(Approval),
  queue: z.array(InboxItem),
  notices: z.array(Notice),
  /** Events of the run that is going on, from its start up to `seq`; none when no run is going on. */
  live: z.array(SessionEvent)
})

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
  UNSTORED: {}
})

export const contract = {
  app: {
    watch: api.output(eventIterator(AppEvent)),
    /** Looks again for Ollama, weights and the starter. */
    refresh: api.output(AppState),
    /** Fetches the starter model; progress comes as app events. Asking twice fetches once. */
    fetchStarter: api.output(StarterState),
    /** Stops the engine; it starts again with the next prompt. */
    restartEngine: api.output(EngineState)
  },
  sessions: {
    list: api.input(z.object({ archived: z.boolean().optional() })).output(z.array(Session)),
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
    open: api.input(SessionId).output(Snapshot),
    /** Events after `after`, then those to come. */
    watch: api.input(SessionId.extend({ after: z.number().int().nonnegative() })).output(eventIterator(SessionEvent))
  },
  run: {
    /**
     * Hands a message to the session. With `parentId` the message becomes a new child there (edit-and-resend, branch); without it, it
     * follows the head, or waits in the queue while a run is going on. `itemId` makes sending twice the same as sending once.
     */
    prompt: api
      .input(
        SessionId.extend({
          text: Words,
          itemId: z.string().min(1).max(64),
          parentId: z.string().nullable().optional(),
          kind: z.enum(['steer', 'follow-up']).optional()
        })
      )
      .output(z.object({ accepted: z.enum(['started', 'queued', 'known']), seq: z.number().int() })),
    /** Takes a queued message back. */
    withdraw: api.input(SessionId.extend({ itemId: z.string() })).output(z.object({ text: z.string() })),
    /** Runs again from the head without new words: after an error, an interruption or a stop. */
    retry: api.input(SessionId).output(z.object({ seq: z.number().int() })),
    /** Ends the run; what was finished stays. */
    stop: api.input(SessionId).output(z.object({ stopped: z.boolean() })),
    /** Answers an approval; an answer to one that is answered already is a CONFLICT. */
    answer: api.input(SessionId.extend({ approvalId: z.string(), answer: Answer })).output(z.object({ seq: z.number().int() })),
    /** Moves the head to an entry (null: before the first); nothing is deleted. */
    goTo: api.input(SessionId.extend({ entryId: z.string().nullable() })).output(z.object({ head: z.string().nullable() }))
  }
}

export type ModelInfo = z.infer<typeof ModelInfo>
export type StarterState = z.infer<typeof StarterState>
export type EngineState = z.infer<typeof EngineState>
export type AppState = z.infer<typeof AppState>
export type AppEvent = z.infer<typeof AppEvent>
export type Snapshot = z.infer<typeof Snapshot>
