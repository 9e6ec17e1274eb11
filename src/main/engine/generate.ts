// One answer, token by token: read the prompt in small pieces (so that a stop takes effect at once), then write until an end is reached.
import type { SequenceEvaluateOptions, Token } from 'node-llama-cpp'
import { promptTooLong } from './refusal'
import type { Loaded } from './runtime'
import { createStopFilter } from './stop'

export interface Sampling {
  readonly temperature: number
  readonly topP: number
  readonly topK: number
  readonly minP: number
  /** 1: none. */
  readonly repeatPenalty: number
  readonly repeatLastN: number
  readonly seed?: number
}

export interface Generation {
  readonly prompt: string
  readonly stops: readonly string[]
  readonly sampling: Sampling
  /** Tokens of the answer at most. */
  readonly limit: number
  readonly signal: AbortSignal
  /** Tokens of the prompt that are read, of all. */
  readonly onReading: (done: number, total: number) => void
  readonly onText: (delta: string) => void
}

export interface Generated {
  readonly reason: 'stop' | 'length'
  readonly promptTokens: number
  /** Tokens of the prompt that were known from before and not read again. */
  readonly cachedTokens: number
  readonly writtenTokens: number
  readonly readMs: number
  readonly writeMs: number
}

/** Rejects with the signal's reason when it aborts, and with a Refusal when the prompt does not fit. */
export async function generate(loaded: Loaded, work: Generation): Promise<Generated> {
  const { sequence, tokenizer, window } = loaded
  const started = performance.now()
  const tokens = tokenizer.encode(work.prompt)
  // one place must be left for the answer; the library would shift the oldest words out without a sign
  if (tokens.length >= window) throw promptTooLong(tokens.length, window)
  tokenizer.remember(work.prompt, tokens)
  const cachedTokens = await readPrompt(loaded, tokens, work)
  const read = performance.now()

  const decoder = tokenizer.decode()
  const filter = createStopFilter(work.stops)
  const limit = Math.min(work.limit, window - tokens.length)
  const recent: Token[] = []
  let text = ''
  let reason: Generated['reason'] = 'length'
  let writtenTokens = 0
  for await (const token of sequence.evaluate(tokens.slice(-1), sampleOptions(work.sampling, recent))) {
    work.signal.throwIfAborted()
    writtenTokens++
    if (loaded.model.isEogToken(token)) {
      reason = 'stop'
      break
    }
    recent.push(token)
    if (recent.length > work.sampling.repeatLastN) recent.shift()
    const delta = decoder.push(token)
    text += delta
    const shown = filter.push(delta)
    if (shown !== '') work.onText(shown)
    if (filter.stopped()) {
      reason = 'stop'
      break
    }
    if (writtenTokens >= limit) break
  }
  const rest = filter.end()
  if (rest !== '') work.onText(rest)
  // the next turn's prompt begins with this text, and then with these very tokens
  if (!filter.stopped()) tokenizer.remember(work.prompt + text, [...tokens, ...decoder.done()])
  return { reason, promptTokens: tokens.length, cachedTokens, writtenTokens, readMs: read - started, writeMs: performance.now() - read }
}

/** About so much work between two looks at the signal. */
const PIECE_MS = 300
const PIECE = { first: 128, least: 16, most: 512 }

/** Reads all but the last token; returns how many were known already. */
async function readPrompt({ sequence }: Loaded, tokens: readonly Token[], { signal, onReading }: Generation): Promise<number> {
  const all = tokens.slice(0, -1)
  await sequence.adaptStateToTokens(all, false)
  const known = sequence.nextTokenIndex
  let size = PIECE.first
  for (let at = known; at < all.length;) {
    signal.throwIfAborted()
    onReading(at, all.length)
    const piece = all.slice(at, at + size)
    const started = performance.now()
    await sequence.evaluateWithoutGeneratingNewTokens(piece)
    const ms = Math.max(1, performance.now() - started)
    if (piece.length === size) size = Math.round(Math.min(PIECE.most, Math.max(PIECE.least, (size * PIECE_MS) / ms)))
    at += piece.length
  }
  signal.throwIfAborted()
  return known
}

function sampleOptions(sampling: Sampling, recent: readonly Token[]): SequenceEvaluateOptions {
  const { temperature, topK, topP, minP, repeatPenalty, repeatLastN, seed } = sampling
  return {
    temperature,
    topK,
    topP,
    minP,
    seed: seed ?? Math.floor(Math.random() * 2 ** 31),
    yieldEogToken: true,
    ...(repeatPenalty !== 1 && {
      repeatPenalty: { punishTokens: () => [...recent], maxPunishTokens: repeatLastN, penalty: repeatPenalty }
    })
  }
}
