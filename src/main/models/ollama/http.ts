// HTTP to a local model server on Node's own client: no proxy, no hidden time limits, and an abort that destroys the socket at once, at any
// moment (fetch gives up after 300 s without headers, which a cold load can take, and goes through whatever proxy is configured).
import { request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { ModelFault } from '../model'
import { abortedFault, classifyComplaint, complaintText, createFault } from './errors'
import { isObject, type Json, parseJson } from '../../../shared/json'

/** Where a server listens. `token`: sent as bearer token (Tau's own engine wants one). */
export interface Endpoint {
  readonly baseUrl: string
  readonly token?: string
}

export interface Ask {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: object
}

export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: ModelFault }

/**
 * Sends a request and waits for the headers. Waits without limit but for the connection itself (1.5 s on this machine, 5 s elsewhere):
 * the caller's signal is the only other way out. A status of 400 or more is a fault about `about` (the model or address in question).
 */
export async function sendRequest(endpoint: Endpoint, ask: Ask, signal: AbortSignal, about: string): Promise<Result<IncomingMessage>> {
  if (signal.aborted) return { ok: false, error: abortedFault() }
  const url = parseUrl(endpoint.baseUrl, ask.path)
  if (!url) return { ok: false, error: createFault('unreachable', `${endpoint.baseUrl} is no address of a model server.`, false) }
  const answer = await openRequest(url, endpoint, ask, signal)
  if (!answer.ok) return answer
  const status = answer.value.statusCode ?? 0
  if (status < 400) return answer
  const text = await readText(answer.value)
  const body = parseJson(text)
  const said = isObject(body) && 'error' in body ? complaintText(body['error']) : text
  if (isAborted(signal)) return { ok: false, error: abortedFault() }
  const retryAfterMs = waitAsked(answer.value.headers['retry-after'])
  return { ok: false, error: { ...classifyComplaint({ status, text: said }, about), ...(retryAfterMs !== undefined && { retryAfterMs }) } }
}

/** Milliseconds that a server asks to wait: seconds or a date (RFC 9110 §10.2.3); undefined when it does not, or says nothing that makes sense. */
function waitAsked(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, Math.round(ms)) : undefined
}

/** Sends a request and reads the one object that answers it. `limitMs`: for all of it. */
export async function askJson(
  endpoint: Endpoint,
  ask: Ask,
  signal: AbortSignal,
  limitMs: number,
  about = endpoint.baseUrl
): Promise<Result<Json>> {
  const limit = AbortSignal.timeout(limitMs)
  const answer = await sendRequest(endpoint, ask, AbortSignal.any([signal, limit]), about)
  const late = createFault('unreachable', `${endpoint.baseUrl} did not answer within ${String(limitMs / 1000)} s.`)
  if (!answer.ok) return limit.aborted && !signal.aborted ? { ok: false, error: late } : answer
  const value = parseJson(await readText(answer.value))
  if (isObject(value)) return { ok: true, value }
  const nonsense = createFault('bad_answer', `${endpoint.baseUrl} does not answer like a model server.`)
  return { ok: false, error: signal.aborted ? abortedFault() : limit.aborted ? late : nonsense }
}

/** A function, since the compiler takes a signal's state for constant. */
export const isAborted = (signal: AbortSignal): boolean => signal.aborted

/** Whether a host name means this machine. */
export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host)

function parseUrl(baseUrl: string, path: string): URL | undefined {
  const url = URL.parse(baseUrl.replace(/\/+$/, '') + path)
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : undefined
}

function openRequest(url: URL, endpoint: Endpoint, ask: Ask, signal: AbortSignal): Promise<Result<IncomingMessage>> {
  const body = ask.body === undefined ? undefined : JSON.stringify(ask.body)
  const headers = {
    Accept: 'application/json, application/x-ndjson',
    ...(body !== undefined && { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) }),
    ...(endpoint.token !== undefined && { Authorization: `Bearer ${endpoint.token}` })
  }
  const open = url.protocol === 'https:' ? requestHttps : requestHttp
  // agent false: a connection of its own, so that destroying it touches nobody else and no stale one is picked up
  const request = open(url, { method: ask.method, headers, agent: false })
  return new Promise((resolve) => {
    let answered = false
    const stop = (): void => {
      request.destroy()
      resolve({ ok: false, error: abortedFault() })
    }
    signal.addEventListener('abort', stop, { once: true })
    limitConnect(request, isLoopback(url.hostname) ? 1_500 : 5_000)
    request.once('error', (cause) => {
      resolve({ ok: false, error: signal.aborted ? abortedFault() : connectFault(cause, endpoint.baseUrl) })
    })
    request.once('response', (answer) => {
      answered = true
      // the listener stays until the body is over: abort destroys the socket then too
      answer.once('close', () => {
        signal.removeEventListener('abort', stop)
      })
      resolve({ ok: true, value: answer })
    })
    request.once('close', () => {
      if (!answered) signal.removeEventListener('abort', stop)
    })
    request.end(body)
  })
}

function limitConnect(request: ClientRequest, limitMs: number): void {
  request.once('socket', (socket) => {
    if (!socket.connecting) return
    const timer = setTimeout(() => request.destroy(new Error('connect timeout')), limitMs)
    socket.once('connect', () => {
      clearTimeout(timer)
    })
    socket.once('close', () => {
      clearTimeout(timer)
    })
  })
}

const connectFault = (cause: Error, address: string): ModelFault =>
  /ECONNRESET|socket hang up/.test(`${String((cause as NodeJS.ErrnoException).code)} ${cause.message}`)
    ? createFault('crashed', `The model server at ${address} closed the connection without an answer. Try again.`)
    : createFault('unreachable', `No model server answers at ${address}. Start it, or choose another model.`)

async function readText(answer: IncomingMessage, maxBytes = 32_000_000): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > maxBytes) break
      chunks.push(chunk)
    }
  } catch {
    // cut off: what is there is judged by the caller
  }
  return Buffer.concat(chunks).toString('utf8')
}
