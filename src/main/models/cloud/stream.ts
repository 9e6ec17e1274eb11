// One answer of a model on the net as the events that Tau's loop reads (spec L4, M1).
import type { LanguageModelV4, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider'
import type { Dispatcher } from 'undici'
import type { Usage } from '../../../shared/message'
import { readToolText } from '../../../shared/tool-text'
import type { ModelEvent, ModelFault, StreamFn } from '../model'
import { abortedFault, createFault } from './faults'
import { buildPrompt, buildTools } from './prompt'
import type { AnswerState, ProtocolReader } from './protocol'
import { createWire } from './wire'

export interface CloudTarget {
  readonly model: string
  readonly dispatcher: Dispatcher
  readonly reader: () => ProtocolReader
  readonly imagesInResults: boolean
  /** The model writes its thinking into the text, between tags, where the server does not take it apart. */
  readonly tagged: boolean
  /** Milliseconds without a byte before, and after, the first one. */
  readonly firstMs: number
  readonly idleMs: number
  /** Builds the package's model around a fetch of ours; may wait for the key, and may throw. */
  readonly connect: (fetch: typeof globalThis.fetch) => Promise<LanguageModelV4>
}

export const createCloudStream = (target: CloudTarget): StreamFn =>
  async function* (request, signal) {
    const stop = new AbortController()
    const abort = (): void => {
      stop.abort()
    }
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    let late: ModelFault | undefined
    let timer: NodeJS.Timeout | undefined
    const wait = (ms: number, fault: ModelFault): void => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        late = fault
        stop.abort()
      }, ms).unref()
    }
    const reader = target.reader()
    const { model } = target
    const ended = (fault: ModelFault): ModelEvent => ({
      type: 'error',
      error: signal.aborted ? abortedFault() : (reader.state.fault ?? late ?? fault)
    })
    wait(target.firstMs, createFault('first_token_timeout', `${model} did not begin to answer in time. Try again.`))
    try {
      yield { type: 'phase', phase: { phase: 'queued' } }
      const silent = createFault('idle_timeout', `${model} stopped in the middle of its answer. Try again.`)
      const heard = (): void => {
        wait(target.idleMs, silent)
      }
      const fetch = createWire({
        reader,
        model,
        dispatcher: target.dispatcher,
        signal: stop.signal,
        heard,
        hangUp: () => {
          stop.abort()
        }
      })
      const connected = await untilStopped(target.connect(fetch), stop.signal)
      const { stream } = await connected.doStream({
        prompt: buildPrompt(request, target.imagesInResults),
        tools: buildTools(request),
        maxOutputTokens: request.maxOutputTokens,
        abortSignal: stop.signal
      })
      yield { type: 'phase', phase: { phase: 'reading' } }
      const read = createPartReader(target.tagged, reader.state)
      for await (const part of stream as AsyncIterable<LanguageModelV4StreamPart>) yield* read.push(part)
      yield* read.end()
      const { usage } = read
      if (reader.state.ended && !signal.aborted)
        yield { type: 'end', stopReason: reader.state.ended, usage: reader.state.usageKnown ? usage : {} }
      else yield ended(createFault('incomplete_stream', `The answer of ${model} broke off. Try again.`))
    } catch (cause) {
      yield ended(
        createFault('bad_answer', `The answer of ${model} could not be read: ${cause instanceof Error ? cause.message : String(cause)}`)
      )
    } finally {
      // also when the reader leaves early: the provider must not go on for nobody
      if (!reader.state.ended) stop.abort()
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
  }

/** What the promise comes to, or a throw once the signal aborts: a key may wait for somebody to unlock it. */
function untilStopped<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      reject(new Error('stopped'))
    }
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject)
  })
}

interface PartReader {
  push(part: LanguageModelV4StreamPart): ModelEvent[]
  end(): ModelEvent[]
  readonly usage: Usage
}

/** Calls come only when the protocol's reader knows the answer to be whole, so they are handed on at once. */
function createPartReader(tagged: boolean, state: AnswerState): PartReader {
  const tags = readToolText({ calls: false, thinking: false })
  let writing = false
  const begun = (events: ModelEvent[]): ModelEvent[] => {
    if (events.length === 0 || writing) return events
    writing = true
    return [{ type: 'phase', phase: { phase: 'writing' } }, ...events]
  }
  const words = (type: 'text' | 'thinking', delta: string): ModelEvent[] => (delta === '' ? [] : [{ type, delta }])
  const shown = (pieces: ReturnType<typeof tags.push>): ModelEvent[] =>
    pieces.flatMap((p) => (p.type === 'text' || p.type === 'thinking' ? words(p.type, p.delta) : []))
  const reader: { usage: Usage } & PartReader = {
    usage: {},
    push(part) {
      switch (part.type) {
        case 'text-delta':
          return begun(tagged ? shown(tags.push(part.delta)) : words('text', part.delta))
        case 'reasoning-delta':
          return begun(words('thinking', part.delta))
        case 'tool-call':
          return begun([
            ...(tagged ? shown(tags.end(false)) : []),
            { type: 'call', id: part.toolCallId, name: part.toolName, arguments: part.input }
          ])
        case 'finish':
          reader.usage = usageOf(part.usage)
          return []
        case 'error':
          if (!state.ended) return [] // it misses the end, as our reader knows
          throw part.error instanceof Error ? part.error : new Error(JSON.stringify(part.error))
        default:
          return []
      }
    },
    end: () => (tagged ? begun(shown(tags.end(false))) : [])
  }
  return reader
}

function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
  return {
    ...(inputTokens.total !== undefined && { inputTokens: inputTokens.total }),
    ...(inputTokens.cacheRead !== undefined && { cachedInputTokens: inputTokens.cacheRead }),
    ...(outputTokens.total !== undefined && { outputTokens: outputTokens.total })
  }
}
