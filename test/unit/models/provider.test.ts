import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sendRequest } from '../../../src/main/models/ollama/http'
import { describe, expect, it } from 'vitest'
import { createOllamaProvider, windowOf } from '../../../src/main/models/ollama/provider'
import { ask, collect, type FakeServer, sendFrames, sendJson, startServer } from './fake-ollama'

const MODELS = [
  { name: 'agent:latest', size: 487_000, digest: 'a', capabilities: ['completion'] },
  { name: 'embed:latest', size: 1, digest: 'b' },
  { name: 'big:cloud', digest: 'c', remote_host: 'https://elsewhere.example' }
]
const ollama = (): Promise<FakeServer> =>
  startServer((request, answer, body) => {
    if (request.url === '/api/version') sendJson(answer, { version: '0.33.0' })
    else if (request.url === '/api/tags') sendJson(answer, { models: MODELS })
    else if (request.url === '/api/ps') sendJson(answer, { models: [] })
    else if (request.url === '/api/show') {
      const embed = body.includes('embed')
      sendJson(answer, {
        capabilities: embed ? ['embedding'] : ['completion', 'tools'],
        model_info: { 'general.architecture': 'llama', 'llama.context_length': 5_000 }
      })
    } else sendFrames(answer, [{ message: { content: 'hi' }, done: true, done_reason: 'stop' }])
  })

describe('a real Ollama', () => {
  it('is found, listed by what `show` says, and answers', async () => {
    const server = await ollama()
    const provider = createOllamaProvider({ env: { OLLAMA_HOST: server.url } })
    expect(await provider.probe()).toEqual({ reachable: true, url: server.url })
    expect(await provider.list()).toEqual([
      {
        id: 'ollama:agent:latest',
        name: 'agent:latest',
        source: 'ollama',
        size: 487_000,
        contextLength: 5_000,
        tools: true,
        vision: false,
        ready: true
      }
    ])
    const opened = await provider.open('agent')
    if (!opened.ok) throw new Error(opened.error.message)
    expect(opened.model.contextWindow).toBe(4_864)
    expect((await collect(opened.model.stream(ask('x'), new AbortController().signal))).text).toBe('hi')
  })

  it('does not offer what would leave this machine, and says what is missing', async () => {
    const server = await ollama()
    const provider = createOllamaProvider({ env: { OLLAMA_HOST: server.url } })
    expect(await provider.open('big:cloud')).toMatchObject({ ok: false, error: { code: 'capability_missing' } })
    expect(await provider.open('none')).toMatchObject({ ok: false, error: { code: 'model_missing' } })
    expect(server.seen.some((s) => s.path === '/api/chat')).toBe(false)
  })

  it('offers nothing when it is not there', async () => {
    const provider = createOllamaProvider({ env: { OLLAMA_HOST: '127.0.0.1:1' } })
    expect(await provider.list()).toEqual([])
    expect(await provider.probe()).toEqual({ reachable: false, url: 'http://127.0.0.1:1' })
    expect(await provider.open('agent')).toMatchObject({ ok: false, error: { code: 'unreachable' } })
  })

  it('is not taken for one when it answers something else', async () => {
    const server = await startServer((_request, answer) => {
      answer.end('hello')
    })
    expect((await createOllamaProvider({ env: { OLLAMA_HOST: server.url } }).probe()).reachable).toBe(false)
  })

  it('gets a window that is a multiple of 256 and no larger than trained', () => {
    expect([windowOf(undefined, 8_192), windowOf(131_072, 8_192), windowOf(5_000, 8_192), windowOf(100, 8_192)]).toEqual([
      8_192, 8_192, 4_864, 100
    ])
  })
})

describe('a server that asks to wait', () => {
  it.each([
    ['7', 7_000],
    ['0', 0],
    [new Date(Date.now() + 5_000).toUTCString(), 5_000],
    ['soon', undefined]
  ])('by Retry-After: %s is heard', async (header, ms) => {
    const server = createServer((_req, res) => {
      res.writeHead(503, { 'retry-after': header }).end('{"error":"server busy"}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const answer = await sendRequest(
      { baseUrl: `http://127.0.0.1:${String(port)}` },
      { method: 'GET', path: '/' },
      new AbortController().signal,
      'm'
    )
    server.close()
    const error = answer.ok ? undefined : answer.error
    expect(error).toMatchObject({ code: 'busy', retryable: true })
    if (ms === undefined) expect(error?.retryAfterMs).toBeUndefined()
    else expect(Math.abs((error?.retryAfterMs ?? -1e9) - ms)).toBeLessThan(2_000)
  })
})
