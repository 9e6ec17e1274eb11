// The fetch that a provider's package is given: one request, whose answer is read, repaired or refused before the package sees any of it.
import { type Dispatcher, fetch } from 'undici'
import { isObject, type Json, parseJson } from '../../../shared/json'
import { classifyAnswer, classifyStatus, connectFault, createFault, notAnAnswer } from './faults'
import type { ProtocolReader } from './protocol'
import { createSseReader, type SseEvent } from './sse'

export interface WireOptions {
  readonly reader: ProtocolReader
  readonly model: string
  readonly dispatcher: Dispatcher
  readonly signal: AbortSignal
  /** Something arrived. */
  readonly heard: () => void
  /** Closes the connection. */
  readonly hangUp: () => void
}

/** Thrown into the package when the answer cannot be used; `reader.state.fault` says why. */
const unusable = (): Error => new Error('the answer cannot be used')

export const createWire =
  ({ reader, model, dispatcher, signal, heard, hangUp }: WireOptions): typeof globalThis.fetch =>
  async (input, init) => {
    const url = input instanceof Request ? input.url : String(input)
    const refuse = (fault: ReturnType<typeof createFault>): Error => {
      reader.state.over = true
      reader.state.fault ??= fault
      return unusable()
    }
    let answer: Awaited<ReturnType<typeof fetch>>
    try {
      // a redirect would send the key to somebody else
      const options = {
        method: 'POST',
        headers: plainHeaders(init?.headers),
        body: typeof init?.body === 'string' ? init.body : '',
        redirect: 'error'
      } as const
      answer = await fetch(url, { ...options, dispatcher, signal })
    } catch (cause) {
      throw refuse(connectFault(cause, new URL(url).origin))
    }
    heard()
    const chunks = (answer.body ?? new Blob([]).stream()) as AsyncIterable<Uint8Array>
    if (!answer.ok) throw refuse(classifyStatus(answer.status, await readStart(chunks), model, answer.headers.get('retry-after')))
    const events = readAnswer(chunks, reader, model, { heard, hangUp })
    const encoder = new TextEncoder()
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const next = await events.next()
        if (next.done === true) controller.close()
        else controller.enqueue(encoder.encode(`data: ${JSON.stringify(next.value)}\n\n`))
      },
      async cancel() {
        await events.return(undefined)
      }
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }

/** Ends when the answer is over, in order or not; never throws. */
async function* readAnswer(
  chunks: AsyncIterable<Uint8Array>,
  reader: ProtocolReader,
  model: string,
  { heard, hangUp }: Pick<WireOptions, 'heard' | 'hangUp'>
): AsyncGenerator<Json> {
  const { state } = reader
  let body: Body = { kind: 'unknown', text: '', held: [], decoder: new TextDecoder() }
  const sse = createSseReader()
  const pieces = chunks[Symbol.asyncIterator]()
  try {
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) {
      heard()
      body = tellBody(body, next.value)
      if (body.kind === 'sse') for (const bytes of body.held) yield* handOn(sse.push(bytes), reader, model)
      if (state.over || (body.kind === 'other' && body.text.length > MAX_PLAIN_CHARS)) break
    }
  } catch (error) {
    // the connection broke, and what came is kept; or the server floods
    if (error instanceof RangeError) fail(reader, createFault('bad_answer', `The provider of ${model} sent more than an answer can hold.`))
  } finally {
    if (state.ended) void readOut(pieces, hangUp)
    else if (state.over) hangUp()
  }
  if (state.over) return
  if (body.kind === 'other') yield* readPlain(body.text, reader)
  else yield* handOn(sse.end(), reader, model)
  yield* reader.finish(false)
}

const READ_OUT_MS = 1_000

/** Reads what stands behind the end, so that the next request can use the connection; not for long, as a server may keep it open. */
async function readOut(pieces: AsyncIterator<Uint8Array>, hangUp: () => void): Promise<void> {
  const timer = setTimeout(hangUp, READ_OUT_MS).unref()
  try {
    while ((await pieces.next()).done !== true) continue
  } catch {
    // it broke, and nobody needs it any more
  }
  clearTimeout(timer)
}

const MAX_PLAIN_CHARS = 4_000_000

/** What a body turned out to be, by its first characters: servers name types as they like. */
interface Body {
  readonly kind: 'unknown' | 'sse' | 'other'
  readonly text: string
  /** Not yet handed on, as it was not known to whom. */
  readonly held: readonly Uint8Array[]
  readonly decoder: TextDecoder
}

function tellBody(body: Body, chunk: Uint8Array): Body {
  if (body.kind === 'sse') return { ...body, held: [chunk] }
  const told = { ...body, text: body.text + body.decoder.decode(chunk, { stream: true }) }
  if (body.kind === 'other') return told
  const start = told.text.trimStart()
  const held = [...body.held, chunk]
  if (!/[\r\n]/.test(start) && start.length < LONGEST_FIELD) return { ...told, held }
  return SSE_FIELD.test(start) ? { ...told, kind: 'sse', held } : { ...told, kind: 'other' }
}

const SSE_FIELD = /^(data|event|id|retry|)[:\r\n]/
const LONGEST_FIELD = 'event:'.length

function* handOn(events: readonly SseEvent[], reader: ProtocolReader, model: string): Generator<Json> {
  for (const { name, data, open } of events) {
    if (reader.state.over) return
    if (data.trim() === '[DONE]') {
      yield* reader.finish(true)
      return
    }
    const value = parseJson(data)
    if (isObject(value)) yield* reader.push(value, name)
    else if (name === 'error') fail(reader, classifyAnswer(data, model))
    else if (!open && data.trim() !== '')
      fail(reader, createFault('bad_answer', `The provider of ${model} sent something that is not its protocol. Try again.`))
  }
}

/** An answer that is no stream: an error, a whole message, or not from a model at all. */
function* readPlain(text: string, reader: ProtocolReader): Generator<Json> {
  const value = parseJson(text)
  if (!isObject(value)) {
    if (!/^\s*[{[]/.test(text)) fail(reader, notAnAnswer(text))
    return
  }
  if ('choices' in value || 'error' in value || value['type'] === 'message') {
    yield* reader.push(value, 'message')
    if (!reader.state.over) yield* reader.finish(true)
  } else fail(reader, notAnAnswer(text))
}

function fail(reader: ProtocolReader, fault: ReturnType<typeof createFault>): void {
  reader.state.over = true
  reader.state.fault ??= fault
}

/** The first 64 kB of a body as text; what comes when it breaks is enough. */
async function readStart(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const chunk of chunks) {
      text += decoder.decode(chunk, { stream: true })
      if (text.length > 64_000) break
    }
  } catch {
    // cut off: what is there is judged by the caller
  }
  return text
}

const plainHeaders = (headers: unknown): Record<string, string> => Object.fromEntries(new Headers(headers as Record<string, string>))
