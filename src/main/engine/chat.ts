// One request to /api/chat, in calling order: find the file, wait for the turn, load, render, generate, send frames as Ollama does.
import { randomUUID } from 'node:crypto'
import type { Json } from '../../shared/json'
import { opensThinking, readToolText, type ToolTextPiece, type ToolTextReader } from '../../shared/tool-text'
import { generate, type Generated, type Sampling } from './generate'
import type { Lane } from './lane'
import { renderPrompt } from './prompt'
import { notSupported, Refusal } from './refusal'
import type { ChatRequest } from './request'
import type { Loaded, Runtime } from './runtime'
import type { Weights, WeightsFile, WeightsHeader } from './weights'

export interface ChatRooms {
  readonly weights: Weights
  readonly runtime: Runtime
  readonly lane: Lane
}

/** Sends one frame; `model` and `created_at` are added by the receiver. */
export type SendFrame = (frame: Json) => void

/** Rejects with a Refusal, or with the signal's reason. Frames that were sent stay sent. */
export async function answerChat(rooms: ChatRooms, request: ChatRequest, signal: AbortSignal, send: SendFrame): Promise<void> {
  const file = await rooms.weights.find(request.model)
  const header = await rooms.weights.readHeader(file)
  if (request.tools.length > 0 && !header.abilities.tools) throw notSupported(request.model, 'tools')
  if (request.think === true && !header.abilities.thinking) throw notSupported(request.model, 'thinking')
  const tell = request.phases ? send : (): void => undefined
  if (rooms.lane.busy() > 0) tell(phase('queued'))
  await rooms.lane.run(() => takeTurn(rooms, request, file, header, signal, send, tell), signal)
}

async function takeTurn(
  { runtime }: ChatRooms,
  request: ChatRequest,
  file: WeightsFile,
  header: WeightsHeader,
  signal: AbortSignal,
  send: SendFrame,
  tell: SendFrame
): Promise<void> {
  const started = performance.now()
  if (request.messages.length === 0 && request.keepMs === 0) {
    await runtime.unload()
    send({ message: EMPTY, done: true, done_reason: 'unload' })
    return
  }
  tell(phase('loading'))
  let told = 0
  const loaded = await runtime.load(file, header, request.window, signal, (part) => {
    // it calls back for every tensor
    if (part - told < 0.1) return
    told = part
    tell(phase('loading', part))
  })
  const loadMs = performance.now() - started
  try {
    if (request.messages.length === 0) send({ message: EMPTY, done: true, done_reason: 'load' })
    else await answer(loaded, request, { started, loadMs }, signal, send, tell)
  } finally {
    if (request.keepMs === 0) await runtime.unload()
    else runtime.keep(request.keepMs)
  }
}

async function answer(
  loaded: Loaded,
  request: ChatRequest,
  times: { started: number; loadMs: number },
  signal: AbortSignal,
  send: SendFrame,
  tell: SendFrame
): Promise<void> {
  const { header, model, tokenizer } = loaded
  const prompt = renderPrompt(
    request.messages,
    { template: header.template, bos: model.tokens.bosString ?? '', eos: model.tokens.eosString ?? '', controls: tokenizer.controls },
    { tools: request.tools, think: request.think }
  )
  if (prompt.fallback !== undefined) console.error(`engine: the chat template of ${loaded.file.name} fails: ${prompt.fallback}`)
  const reader = readToolText({ calls: request.tools.length > 0, thinking: opensThinking(prompt.text) })
  const broken: ToolTextPiece[] = []
  let heard = performance.now()
  const say = (pieces: readonly ToolTextPiece[]): void => {
    const message = messageOf(pieces)
    broken.push(...pieces.filter((p) => p.type === 'broken' && !isReadable(p)))
    const now = performance.now()
    if (message) send({ message, done: false })
    // a call is silent while it is written: the client must see that the engine lives
    else if (now - heard > 2_000) tell({ message: EMPTY, done: false, phase: 'writing' })
    else return
    heard = now
  }
  const made = await generate(loaded, {
    prompt: prompt.text,
    stops: [...prompt.stops, ...request.stops],
    sampling: { ...samplingOf(header), ...request.sampling },
    limit: request.limit,
    signal,
    onReading: (done, total) => {
      tell(phase('reading', total === 0 ? 1 : done / total))
    },
    onText: (delta) => {
      say(reader.push(delta))
    }
  })
  finish(made, reader, broken, say)
  send({ message: EMPTY, done: true, done_reason: made.reason, ...statistics(made, times) })
}

function finish(
  made: Generated,
  reader: ToolTextReader,
  broken: readonly ToolTextPiece[],
  say: (pieces: readonly ToolTextPiece[]) => void
): void {
  say(reader.end(made.reason === 'length'))
  const lost = broken.find((p) => p.type === 'broken')
  // an answer that the limit cut says so by its reason; any other call that cannot be read is an error, never silence
  if (lost && made.reason === 'stop')
    throw new Refusal(500, `error parsing tool call: raw='${lost.raw.slice(0, 2_000)}', err=${lost.reason}`)
}

type Broken = Extract<ToolTextPiece, { type: 'broken' }>

/** Broken JSON of a known tool goes out as text in place of the object: the client's call pipeline tells the model what is wrong with it. */
const isReadable = (piece: ToolTextPiece): piece is Broken & { readonly name: string } =>
  piece.type === 'broken' && piece.reason === 'bad_json' && piece.name !== undefined

function messageOf(pieces: readonly ToolTextPiece[]): Json | undefined {
  let content = ''
  let thinking = ''
  const calls: Json[] = []
  for (const piece of pieces) {
    if (piece.type === 'text') content += piece.delta
    else if (piece.type === 'thinking') thinking += piece.delta
    else if (piece.type === 'call') calls.push(toCall(calls.length, piece.name, JSON.parse(piece.arguments)))
    else if (isReadable(piece)) calls.push(toCall(calls.length, piece.name, piece.arguments ?? piece.raw))
  }
  if (content === '' && thinking === '' && calls.length === 0) return undefined
  return { role: 'assistant', content, ...(thinking !== '' && { thinking }), ...(calls.length > 0 && { tool_calls: calls }) }
}

const toCall = (index: number, name: string, args: unknown): Json => ({
  id: `call_${randomUUID().slice(0, 8)}`,
  function: { index, name, arguments: args }
})

/** Small models that know no tools repeat themselves without a penalty; JSON needs repetition, so models with tools get none. */
const samplingOf = (header: WeightsHeader): Sampling => ({
  temperature: 0.2,
  topP: 0.9,
  topK: 40,
  minP: 0,
  repeatPenalty: header.abilities.tools ? 1 : 1.1,
  repeatLastN: 64
})

const EMPTY: Json = { role: 'assistant', content: '' }

const phase = (name: 'queued' | 'loading' | 'reading', progress?: number): Json => ({
  message: EMPTY,
  done: false,
  phase: name,
  ...(progress !== undefined && { progress })
})

/** Durations in nanoseconds, as Ollama sends them. */
const statistics = (made: Generated, { started, loadMs }: { started: number; loadMs: number }): Json => ({
  total_duration: nano(performance.now() - started),
  load_duration: nano(loadMs),
  prompt_eval_count: made.promptTokens,
  prompt_eval_cached_count: made.cachedTokens,
  prompt_eval_duration: nano(made.readMs),
  eval_count: made.writtenTokens,
  eval_duration: nano(made.writeMs)
})

const nano = (ms: number): number => Math.round(ms * 1e6)
