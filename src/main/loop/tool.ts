// A tool is a contract: a name, a schema, a label, and a handler that only ever sees arguments that fit (spec T1, T2).
import type { ImagePart } from '../../shared/message'
import type { Access, Label } from '../../shared/policy'
import type { Preview, Progress } from '../../shared/session'
import type { ToolSpec } from '../models/model'
import { type Parameters, schemaOf } from './arguments'

/** What a tool may know of where it runs. */
export interface ToolScope {
  /** Absolute path of the folder it may touch. */
  readonly workspace: string
  /** Ends when the run is stopped or the tool's time is over; a handler that does not listen is left behind (design §3.6). */
  readonly signal: AbortSignal
  /** What the decision gives it beyond the workspace. */
  readonly access: Access
  readonly sessionId: string
}
export interface ToolRun extends ToolScope {
  readonly callId: string
  /** As often as it likes; the session throttles. */
  readonly progress: (progress: Progress) => void
  /** What `preview` saw as `basis` when the person was asked; undefined when nobody was asked. */
  readonly basis: string | undefined
  readonly outputs: OutputKeeper
}

/** Keeps the whole of an output of which the model gets a part (spec T7, C6). */
export interface OutputKeeper {
  /** A new place; nothing is kept until the first write. `foreign`: it comes from beyond the workspace. */
  open(foreign?: boolean): OutputSink
}
interface OutputSink {
  /** What `lookup_reference` takes. */
  readonly ref: string
  /** Never throws and never waits; what goes beyond the keeper's limit, or what the disk refuses, is counted and not kept. */
  write(chunk: Uint8Array | string): void
  /** Bytes that were written, and bytes of them that are kept. */
  close(): Promise<{ bytes: number; kept: number }>
}

/** Text for the model. `code` other than `ok` marks a failure that the tool foresaw. */
export interface ToolOutput {
  readonly code: string
  readonly text: string
  readonly images?: readonly ImagePart[]
  /** Names the whole output where `text` is a part of it. */
  readonly ref?: string
  /** The text comes from beyond the workspace (a page, a server, a file elsewhere). Default false. */
  readonly foreign?: boolean
}

/** What a call would touch, by its arguments alone: rules are about these, never about the names of fields. Paths as the model wrote them. */
interface Touches {
  readonly reads?: readonly string[]
  readonly writes?: readonly string[]
  /** A line for the system's shell. */
  readonly command?: string
  readonly urls?: readonly string[]
}

/** What is done around an effect: what it may change is kept before it begins, and compared when it is over (spec T8). */
export interface Keeper {
  /** Undefined: nothing needs keeping. Never throws. */
  before(call: KeptScope): Promise<{ after(): Promise<void> } | undefined>
}
export interface KeptScope {
  readonly runId: string
  readonly callId: string
  readonly tool: Tool
  readonly arguments: unknown
  readonly workspace: string
}

/**
 * An exact picture of what would happen; `basis` names the state of the world that it was made from (a content hash, say). `refuse`: it
 * cannot happen at all, so nobody need be asked.
 */
export type PreviewResult = { readonly preview: Preview; readonly basis: string } | { readonly refuse: ToolOutput }

/**
 * Handlers are methods, so a `Tool<Arguments>` may stand where a `Tool` is wanted: the pipeline hands them only what `parameters` let through.
 */
export interface Tool<A = unknown> {
  readonly name: string
  /** One or two sentences: every idle tool costs tokens in every request. */
  readonly description: string
  readonly label: Label
  /** Whether it may run again by itself after a crash (spec T8). */
  readonly replay: 'safe' | 'never'
  /** A zod type, or what `compileParameters` made of a JSON Schema. */
  readonly parameters: Parameters<A>
  /** Milliseconds; default `DEFAULT_TIME_LIMIT_MS`. */
  readonly timeLimitMs?: number
  /** Its preview is a question to the person; the answer, in words, is the call's `basis`. */
  readonly asksPerson?: boolean
  /** Default: nothing. */
  touches?(args: A): Touches
  preview?(args: A, scope: ToolScope): Promise<PreviewResult>
  /** May throw: the throw becomes a result with code `threw`. Must not catch the abort. */
  execute(args: A, run: ToolRun): Promise<ToolOutput>
}

export const DEFAULT_TIME_LIMIT_MS = 120_000

export interface Registry {
  /** Undefined for a name nobody registered. */
  find(name: string): Tool | undefined
  readonly names: readonly string[]
  /** As the model sees them, sorted by name: the bytes of a request must not depend on the order of registration (spec C7). */
  readonly specs: readonly ToolSpec[]
}

/** Throws on a duplicate name: two tools that answer to one name are a fault of the program, not of a model. */
export function createRegistry(tools: readonly Tool[]): Registry {
  const byName = new Map<string, Tool>()
  for (const tool of tools) {
    if (byName.has(tool.name)) throw new Error(`two tools are called ${tool.name}`)
    byName.set(tool.name, tool)
  }
  const sorted = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  return {
    find: (name) => byName.get(name),
    names: sorted.map((t) => t.name),
    specs: sorted.map((t) => ({ name: t.name, description: t.description, parameters: schemaOf(t.parameters) }))
  }
}
