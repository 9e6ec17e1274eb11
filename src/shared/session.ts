// The things a session is made of, as they are stored and as they cross the API.
import { z } from 'zod'
import { Fault, Message } from './message'

/** A node of a session's tree. Never changed or deleted; `parentId` null marks a root (design §3.1). */
export const Entry = z.object({
  id: z.string(),
  sessionId: z.string(),
  parentId: z.string().nullable(),
  at: z.number().int(),
  type: z.literal('message'),
  message: Message
})

/** Life of a run: ready → running ⇄ waiting → one of the four ends (spec L2). */
export const RunState = z.enum(['ready', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'interrupted'])

/** Every stop has a reason (design §3.7). */
export const StopCause = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('natural') }),
  z.object({ kind: z.literal('terminated'), by: z.string() }),
  z.object({ kind: z.literal('budget'), budget: z.string(), limit: z.number() }),
  z.object({ kind: z.literal('repetition') }),
  z.object({ kind: z.literal('aborted') }),
  z.object({ kind: z.literal('error'), error: Fault }),
  z.object({ kind: z.literal('interrupted') })
])

export const Run = z.object({
  id: z.string(),
  sessionId: z.string(),
  state: RunState,
  cause: StopCause.optional(),
  model: z.string(),
  turn: z.number().int(),
  startedAt: z.number().int(),
  endedAt: z.number().int().optional()
})

export const Session = z.object({
  id: z.string(),
  /** Empty until the person names it or the first prompt does. */
  title: z.string(),
  /** Absolute path of the folder that its tools may see. */
  workspace: z.string(),
  /** Model id (`engine:…`, `ollama:…`, `scripted:…`). */
  model: z.string(),
  archived: z.boolean(),
  createdAt: z.number().int(),
  updatedAt: z.number().int(),
  /** State of the latest run; `ready` when there was none. */
  state: RunState
})

/** What a tool may do to the world (spec T6). */
export const Label = z.enum(['readonly', 'write', 'network', 'exec'])

/** What would happen, as exactly as the tool can say before it happens. */
export const Preview = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('file'),
    /** Absolute path of the file that would change. */
    path: z.string(),
    change: z.enum(['create', 'replace']),
    /** Unified diff without a file header; empty when nothing would change. */
    diff: z.string(),
    added: z.number().int(),
    removed: z.number().int()
  }),
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
  askedAt: z.number().int()
})

/** `session`: this tool needs no further answer in this session. The reason of a denial is read by the model. */
export const Answer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('allow'), scope: z.enum(['once', 'session']) }),
  z.object({ kind: z.literal('deny'), reason: z.string().max(2_000) })
])

/** A message of the person that waits for its turn (spec Q1). */
export const InboxItem = z.object({
  id: z.string(),
  kind: z.enum(['steer', 'follow-up']),
  text: z.string(),
  at: z.number().int()
})

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
export type Label = z.infer<typeof Label>
export type Preview = z.infer<typeof Preview>
export type Approval = z.infer<typeof Approval>
export type Answer = z.infer<typeof Answer>
export type InboxItem = z.infer<typeof InboxItem>
export type ModelPhase = z.infer<typeof ModelPhase>
export type Notice = z.infer<typeof Notice>
export type Progress = z.infer<typeof Progress>
