// Ollama's HTTP protocol on a loopback port. Any program on this machine can reach the port and any web page can try to: a token, the Host
// and the Origin are checked before anything else (design §3.12).
import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isObject, type Json, parseJson, stringIn } from '../../shared/json'
import { answerChat, type ChatRooms } from './chat'
import { badRequest, Refusal } from './refusal'
import { readChatRequest } from './request'
import type { WeightsFile } from './weights'

/** What `/api/version` says: a protocol version that clients know, and who speaks. */
const VERSION = '0.13.0-tau'

/** Listens on a port of 127.0.0.1 that the system chooses. */
export async function startServer(rooms: ChatRooms, token: string): Promise<{ server: Server; port: number }> {
  const server = createServer((request, answer) => {
    const refused = refusalOf(request, token)
    if (refused !== 0) {
      answer.writeHead(refused).end()
      return
    }
    void route(rooms, request, answer).catch((cause: unknown) => {
      sendFailure(answer, cause)
    })
  })
  // a queued request waits as long as it must; the client has its own limits
  server.requestTimeout = 0
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return { server, port: (server.address() as AddressInfo).port }
}

/** Status of a request that may not come in; 0 when it may. */
function refusalOf(request: IncomingMessage, token: string): number {
  const { host, origin, authorization } = request.headers
  const port = String(request.socket.localPort)
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`) return 403
  if (origin !== undefined) return 403
  const given = Buffer.from(authorization ?? '')
  const wanted = Buffer.from(`Bearer ${token}`)
  return given.length === wanted.length && timingSafeEqual(given, wanted) ? 0 : 401
}

async function route(rooms: ChatRooms, request: IncomingMessage, answer: ServerResponse): Promise<void> {
  const path = (request.url ?? '').split('?')[0] ?? ''
  switch (`${request.method ?? ''} ${path}`) {
    case 'GET /api/version':
      sendJson(answer, { version: VERSION })
      return
    case 'GET /api/tags':
      sendJson(answer, { models: await listModels(rooms) })
      return
    case 'GET /api/ps':
      sendJson(answer, { models: listLoaded(rooms) })
      return
    case 'POST /api/show':
      sendJson(answer, await showModel(rooms, await readBody(request)))
      return
    case 'POST /api/chat':
      await chat(rooms, await readBody(request), answer)
      return
    default:
      answer.writeHead(404, { 'Content-Type': 'text/plain' }).end('404 page not found')
  }
}

async function chat(rooms: ChatRooms, body: Json, answer: ServerResponse): Promise<void> {
  const request = readChatRequest(body)
  const left = new AbortController()
  answer.once('close', () => {
    if (!answer.writableFinished) left.abort()
  })
  const stamp = (frame: Json): Json => ({ model: request.model, created_at: new Date().toISOString(), ...frame })
  if (!request.stream) {
    const frames: Json[] = []
    await answerChat(rooms, { ...request, phases: false }, left.signal, (frame) => frames.push(frame))
    sendJson(answer, stamp(joinFrames(frames)))
    return
  }
  await answerChat(rooms, request, left.signal, (frame) => {
    if (!answer.headersSent) answer.writeHead(200, { 'Content-Type': 'application/x-ndjson' })
    answer.write(JSON.stringify(stamp(frame)) + '\n')
  })
  answer.end()
}

/** All frames of an answer as the one object of a request without streaming. */
function joinFrames(frames: readonly Json[]): Json {
  const messages = frames.map((f) => (isObject(f['message']) ? f['message'] : {}))
  const join = (key: string): string => messages.map((m) => stringIn(m, key) ?? '').join('')
  const calls = messages.flatMap((m) => (Array.isArray(m['tool_calls']) ? (m['tool_calls'] as unknown[]) : []))
  const thinking = join('thinking')
  const message = {
    role: 'assistant',
    content: join('content'),
    ...(thinking !== '' && { thinking }),
    ...(calls.length > 0 && { tool_calls: calls })
  }
  return { ...frames.at(-1), message }
}

async function listModels({ weights }: ChatRooms): Promise<Json[]> {
  const models = (await weights.list()).map(async (file) => {
    const header = await weights.readHeader(file).catch(() => undefined)
    // a file that is no GGUF is no model
    return header ? [{ ...describe(file), capabilities: capabilitiesOf(header.abilities) }] : []
  })
  return (await Promise.all(models)).flat()
}

function listLoaded({ runtime }: ChatRooms): Json[] {
  const state = runtime.state()
  if (!state) return []
  const expires = Number.isFinite(state.expiresAt) ? new Date(state.expiresAt) : new Date(8.64e15)
  return [{ ...describe(state.file), size_vram: 0, context_length: state.window, expires_at: expires.toISOString() }]
}

async function showModel({ weights }: ChatRooms, body: Json): Promise<Json> {
  const file = await weights.find(stringIn(body, 'model') ?? stringIn(body, 'name') ?? '')
  const header = await weights.readHeader(file)
  return {
    details: DETAILS,
    template: header.template ?? '',
    modified_at: file.modifiedAt.toISOString(),
    capabilities: capabilitiesOf(header.abilities),
    model_info: {
      'general.architecture': header.architecture,
      ...(header.contextLength !== undefined && { [`${header.architecture}.context_length`]: header.contextLength })
    }
  }
}

const DETAILS = { format: 'gguf', family: '', parameter_size: '', quantization_level: '' }

const describe = (file: WeightsFile): Json => ({
  name: file.name,
  model: file.name,
  size: file.size,
  modified_at: file.modifiedAt.toISOString(),
  digest: '',
  details: DETAILS
})

const capabilitiesOf = ({ tools, thinking }: { tools: boolean; thinking: boolean }): string[] => [
  'completion',
  ...(tools ? ['tools'] : []),
  ...(thinking ? ['thinking'] : [])
]

const sendJson = (answer: ServerResponse, value: Json): void => {
  answer.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8' }).end(JSON.stringify(value))
}

/** An error before the first frame is a status, after it a line; Tau's client finds the status in the line too. */
function sendFailure(answer: ServerResponse, cause: unknown): void {
  const status = cause instanceof Refusal ? cause.status : 500
  const error = cause instanceof Error ? cause.message : String(cause)
  if (answer.headersSent) answer.end(JSON.stringify({ error, status }) + '\n')
  else if (!answer.destroyed) answer.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' }).end(JSON.stringify({ error }))
}

async function readBody(request: IncomingMessage, maxBytes = 64_000_000): Promise<Json> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw new Refusal(413, 'request body is too large')
    chunks.push(chunk)
  }
  const value = parseJson(Buffer.concat(chunks).toString('utf8'))
  if (!isObject(value)) throw badRequest('invalid JSON body')
  return value
}
