// Servers that speak Ollama's protocol for tests: handwritten answers, and real ones from test/fixtures/ollama played back.
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { ModelEvent, ModelRequest, ModelFault } from '../../../src/main/models/model'

export type Handler = (request: IncomingMessage, answer: ServerResponse, body: string) => void

export interface FakeServer {
  readonly url: string
  /** Requests in the order they came. */
  readonly seen: { method: string; path: string; body: string; headers: IncomingMessage['headers'] }[]
  /** How many sockets are open now. */
  readonly open: () => number
}

/** Ends with the test. */
export async function startServer(handle: Handler): Promise<FakeServer> {
  const seen: FakeServer['seen'] = []
  let open = 0
  const server = createServer((request, answer) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (d: string) => (body += d))
    request.on('end', () => {
      seen.push({ method: request.method ?? '', path: request.url ?? '', body, headers: request.headers })
      handle(request, answer, body)
    })
  })
  server.on('connection', (socket) => {
    open++
    socket.on('close', () => open--)
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`, seen, open: () => open }
}

export const sendJson = (answer: ServerResponse, value: unknown, status = 200): void => {
  answer.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value))
}

/** Frames of a chat, each as its own write. */
export const sendFrames = (answer: ServerResponse, frames: readonly unknown[]): void => {
  answer.writeHead(200, { 'Content-Type': 'application/x-ndjson' })
  for (const frame of frames) answer.write(JSON.stringify(frame) + '\n')
  answer.end()
}

interface Recording {
  steps: { request: { path: string }; response?: { status: number | null; end: string; chunks: { s?: string }[] } }[]
}

/** Answers /api/chat with one recorded step; other paths are empty lists. */
export function playRecording(name: string, step = 0): Promise<FakeServer> {
  const file = join(import.meta.dirname, '../../fixtures/ollama', `${name}.json`)
  const { response } = (JSON.parse(readFileSync(file, 'utf8')) as Recording).steps[step] ?? {}
  return startServer((request, answer) => {
    if (request.url !== '/api/chat') {
      sendJson(answer, { models: [] })
      return
    }
    answer.writeHead(response?.status ?? 500, { 'Content-Type': 'application/x-ndjson' })
    for (const chunk of response?.chunks ?? []) answer.write(chunk.s ?? '')
    if (response?.end === 'complete') answer.end()
    else setTimeout(() => answer.socket?.destroy(), 20)
  })
}

export const ask = (text: string, more: Partial<ModelRequest> = {}): ModelRequest => ({
  system: 'Be brief.',
  messages: [{ role: 'user', parts: [{ type: 'text', text }] }],
  tools: [],
  maxOutputTokens: 512,
  ...more
})

export const tool = (name: string): ModelRequest['tools'][number] => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }
})

export interface Told {
  readonly text: string
  readonly thinking: string
  readonly calls: { id?: string; name: string; arguments: string }[]
  readonly phases: string[]
  readonly end?: Extract<ModelEvent, { type: 'end' }>
  readonly error?: ModelFault
  readonly events: ModelEvent[]
}

/** Reads a stream to its end. */
export async function collect(stream: AsyncIterable<ModelEvent>, each?: (event: ModelEvent) => void): Promise<Told> {
  const events: ModelEvent[] = []
  for await (const event of stream) {
    events.push(event)
    each?.(event)
  }
  const deltas = (type: 'text' | 'thinking'): string => events.map((e) => (e.type === type ? e.delta : '')).join('')
  const end = events.find((e) => e.type === 'end')
  const error = events.find((e) => e.type === 'error')?.error
  return {
    events,
    text: deltas('text'),
    thinking: deltas('thinking'),
    calls: events.filter((e) => e.type === 'call').map(({ type: _type, ...call }) => call),
    phases: events.flatMap((e) => (e.type === 'phase' ? [e.phase.phase] : [])),
    ...(end && { end }),
    ...(error && { error })
  }
}
