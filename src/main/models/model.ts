// All that the rest of Tau knows of a model: a function from a request to a stream of events (spec L4, M1).
import type { ModelInfo } from '../../shared/contract'
import type { Fault, Message, Usage } from '../../shared/message'
import type { ModelPhase } from '../../shared/session'

/** A tool as the model sees it; `parameters` is a JSON Schema object. */
export interface ToolSpec {
  readonly name: string
  readonly description: string
  readonly parameters: Record<string, unknown>
}

export interface ModelRequest {
  readonly system: string
  /** Valid for every provider: each call has exactly one result, in order (design §3.5). */
  readonly messages: readonly Message[]
  readonly tools: readonly ToolSpec[]
  /** Tokens that the answer may take. */
  readonly maxOutputTokens: number
}

/** `retryable`: the same request may succeed later. Whether Tau repeats it by itself is the loop's to say: not once something was shown. */
export interface ModelFault extends Fault {
  readonly retryable: boolean
  /** How long the server asked to wait, in milliseconds. */
  readonly retryAfterMs?: number
}

/**
 * `call.arguments` is the JSON text as the model wrote it; `id` is missing where the server gave none. A stream ends with exactly one
 * `end` or `error`, and yields nothing after it.
 */
export type ModelEvent =
  | { readonly type: 'phase'; readonly phase: ModelPhase }
  | { readonly type: 'text' | 'thinking'; readonly delta: string }
  | { readonly type: 'call'; readonly id?: string; readonly name: string; readonly arguments: string }
  | { readonly type: 'end'; readonly stopReason: 'stop' | 'calls' | 'length'; readonly usage: Usage }
  | { readonly type: 'error'; readonly error: ModelFault }

/**
 * Must not throw: failures are an `error` event. When `signal` aborts, the connection is closed at once and the stream ends with an error
 * of code `aborted`. Codes: see docs/models.md.
 */
export type StreamFn = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>

/** Which names of tools a provider takes. */
export interface NameRule {
  readonly pattern: RegExp
  /** Characters that a name may have. */
  readonly length: number
}

/** A model that can be used. `contextWindow`: tokens that one request and its answer may take together; constant while it is loaded. */
export interface Model {
  readonly info: ModelInfo
  readonly contextWindow: number
  /** Names of tools that it takes; missing: any. */
  readonly toolNames?: NameRule
  readonly stream: StreamFn
}

/** A source of models: the engine, an Ollama server, script files. */
export interface Provider {
  /** Prefix of its model ids, before the colon. */
  readonly source: ModelInfo['source']
  /** Models it offers now; an unreachable server offers none. Never throws. */
  list(): Promise<ModelInfo[]>
  /** The model of that name (id without the prefix), or why it cannot be used. Never throws. */
  open(name: string): Promise<{ ok: true; model: Model } | { ok: false; error: Fault }>
}
