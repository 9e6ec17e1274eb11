// The one model in memory, its context and its clock: loaded on demand, dropped when nobody asked for a while.
import { totalmem } from 'node:os'
import type { Llama, LlamaContext, LlamaContextSequence, LlamaModel } from 'node-llama-cpp'
import { loadFailed, Refusal } from './refusal'
import { createTokenizer, type Tokenizer } from './tokenizer'
import type { WeightsFile, WeightsHeader } from './weights'

export interface Loaded {
  readonly file: WeightsFile
  readonly header: WeightsHeader
  readonly model: LlamaModel
  readonly tokenizer: Tokenizer
  readonly window: number
  readonly sequence: LlamaContextSequence
}

interface RuntimeState {
  readonly file: WeightsFile
  readonly window: number
  /** Milliseconds since 1970; Infinity: never. */
  readonly expiresAt: number
}

export interface Runtime {
  readonly state: () => RuntimeState | undefined
  /** The model with a context of `window` tokens (less when it was trained for less). Not to be called twice at a time. */
  load(file: WeightsFile, header: WeightsHeader, window: number, signal: AbortSignal, onProgress: (part: number) => void): Promise<Loaded>
  unload(): Promise<void>
  /** Starts the clock anew: the model is dropped after so many milliseconds (Infinity: never). */
  keep(ms: number): void
}

export interface RuntimeOptions {
  readonly llama: Llama
  readonly threads: number
  /** What llama.cpp complained about last; empties it. */
  readonly takeComplaint: () => string
  /** Called when the clock ran out; unloads when nothing is going on. */
  readonly onIdle: () => void
}

export function createRuntime({ llama, threads, takeComplaint, onIdle }: RuntimeOptions): Runtime {
  let current: (Loaded & { readonly context: LlamaContext }) | undefined
  let expiresAt = Infinity
  let clock: NodeJS.Timeout | undefined

  const openContext = async (model: LlamaModel, window: number): Promise<{ context: LlamaContext; sequence: LlamaContextSequence }> => {
    const context = await model.createContext({ contextSize: window, sequences: 1, threads }).catch((cause: unknown) => {
      throw new Refusal(500, `failed to allocate a context of ${String(window)} tokens: ${takeComplaint() || String(cause)}`)
    })
    return { context, sequence: context.getSequence() }
  }
  const unload = async (): Promise<void> => {
    clearTimeout(clock)
    const old = current
    current = undefined
    await old?.model.dispose()
  }

  return {
    state: () => current && { file: current.file, window: current.window, expiresAt },
    unload,
    async load(file, header, asked, signal, onProgress) {
      clearTimeout(clock)
      const window = Math.max(8, Math.min(asked, header.contextLength ?? asked))
      const same = current?.file.path === file.path && current.file.modifiedAt.getTime() === file.modifiedAt.getTime()
      if (current && same && current.window === window) return current
      if (current && same) {
        await current.context.dispose()
        const { model, tokenizer } = current
        current = { file, header, model, tokenizer, window, ...(await openContext(model, window)) }
        return current
      }
      await unload()
      if (file.size > totalmem() * 0.9)
        throw new Refusal(500, `model requires more system memory (${gib(file.size)}) than there is (${gib(totalmem())})`)
      takeComplaint()
      const model = await llama
        .loadModel({ modelPath: file.path, loadSignal: signal, onLoadProgress: onProgress })
        .catch((cause: unknown) => {
          signal.throwIfAborted()
          throw loadFailed(file.name, takeComplaint() || String(cause))
        })
      try {
        current = { file, header, model, tokenizer: createTokenizer(model), window, ...(await openContext(model, window)) }
      } catch (cause) {
        await model.dispose()
        throw cause
      }
      return current
    },
    keep(ms) {
      clearTimeout(clock)
      expiresAt = Date.now() + ms
      // timers hold 31 bits
      if (ms < 2 ** 31) clock = setTimeout(onIdle, ms)
    }
  }
}

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`
