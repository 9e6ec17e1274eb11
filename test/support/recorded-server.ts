// A server on this machine that answers every request with bytes that were recorded, cut as they were, and ends as it is told.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTick } from 'node:timers/promises'

export interface Recording {
  readonly http: { readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  readonly chunks: readonly Buffer[]
  /** `eof`: closed in order; `reset`: the connection breaks; `open`: it stays open and silent. */
  readonly end: 'eof' | 'reset' | 'open'
}
export interface RecordedServer {
  readonly url: string
  /** `port`: the client's, which tells connections apart. */
  readonly requests: { readonly path: string; readonly headers: IncomingMessage['headers']; readonly body: string; readonly port: number }[]
  /** Connections that are open now. */
  connections(): Promise<number>
  close(): Promise<void>
}

export async function serveRecording(recording: Recording): Promise<RecordedServer> {
  const requests: RecordedServer['requests'] = []
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy())
  })
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body: Buffer[] = []
    for await (const part of request as AsyncIterable<Buffer>) body.push(part)
    requests.push({
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(body).toString('utf8'),
      port: request.socket.remotePort ?? 0
    })
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"models":[]}') // what is loaded, as Ollama tells it
      return
    }
    request.socket.setNoDelay(true)
    response.writeHead(recording.http.status, recording.http.headers)
    response.flushHeaders()
    for (const chunk of recording.chunks) {
      if (response.destroyed) return
      response.write(chunk)
      await nextTick()
    }
    if (recording.end === 'eof') response.end()
    if (recording.end === 'reset') {
      await new Promise((resolve) => setTimeout(resolve, 20)) // or the reset overtakes what was sent
      request.socket.resetAndDestroy()
    }
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${String(port)}`,
    requests,
    connections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => {
          if (error) reject(error)
          else resolve(count)
        })
      }),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
}
