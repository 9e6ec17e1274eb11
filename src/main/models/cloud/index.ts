// Models of providers on the net, behind the same interface as local ones (spec M1). Requests are built by the providers' packages; answers
// are read and repaired here first (docs/decisions/014-cloud-streams.md).
import { Agent, type Dispatcher } from 'undici'
import type { ModelInfo } from '../../../shared/contract'
import type { Model } from '../model'
import { PLAIN_NAMES } from '../tool-names'
import { createAnthropicReader } from './anthropic'
import { createOpenAiReader } from './openai'
import { type CloudTarget, createCloudStream } from './stream'

/** `openai`: OpenAI itself (chat completions); `openai-compatible`: any server that speaks that protocol. */
export type CloudKind = 'openai' | 'openai-compatible' | 'anthropic'

export interface CloudOptions {
  readonly kind: CloudKind
  /** With the version, as in `https://api.openai.com/v1`. */
  readonly baseURL: string
  /** Asked before each request. May be empty for a server that wants none. */
  readonly apiKey: () => Promise<string>
  /** The provider's name of the model. */
  readonly model: string
  readonly info: ModelInfo
  /** Tokens that a request and its answer may take together. */
  readonly contextWindow: number
  /** All connections are made through it: what an offline session may not reach is refused there. Default: direct ones. */
  readonly dispatcher?: Dispatcher
  /** Milliseconds without a byte before the first one (default 5 min: a long prompt is read in silence). */
  readonly firstMs?: number
  /** Milliseconds between two pieces (default 3 min: some providers think in silence). */
  readonly idleMs?: number
}

/** The model, without asking anybody: whether it is there shows at the first request. */
export function openCloudModel(options: CloudOptions): Model {
  const { kind, model, info, contextWindow, firstMs = 5 * MINUTE, idleMs = 3 * MINUTE } = options
  return {
    info,
    contextWindow,
    toolNames: PLAIN_NAMES,
    stream: createCloudStream({
      model,
      firstMs,
      idleMs,
      dispatcher: options.dispatcher ?? direct,
      reader: () => (kind === 'anthropic' ? createAnthropicReader(model) : createOpenAiReader(model)),
      imagesInResults: kind === 'anthropic',
      tagged: kind === 'openai-compatible',
      connect: connectorOf(options)
    })
  }
}

const MINUTE = 60_000

/** No limits of its own: how long to wait is decided in one place. */
const direct = new Agent({ headersTimeout: 0, bodyTimeout: 0 })

/** Packages are loaded at the first request, as most starts of Tau need none. What is not said outright, they look for in the environment. */
function connectorOf({ kind, baseURL, apiKey: ask, model }: CloudOptions): CloudTarget['connect'] {
  return async (fetch) => {
    const apiKey = await ask()
    switch (kind) {
      case 'openai':
        return (await import('@ai-sdk/openai')).createOpenAI({ baseURL, apiKey, fetch }).chat(model)
      case 'openai-compatible':
        return (await import('@ai-sdk/openai-compatible'))
          .createOpenAICompatible({ name: 'compatible', baseURL, apiKey, fetch, includeUsage: true })
          .chatModel(model)
      case 'anthropic':
        return (await import('@ai-sdk/anthropic')).createAnthropic({ baseURL, apiKey, fetch })(model)
    }
  }
}
