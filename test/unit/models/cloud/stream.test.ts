import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import type { ModelInfo } from '../../../../src/shared/contract'
import type { Message } from '../../../../src/shared/message'
import { type CloudKind, type CloudOptions, openCloudModel } from '../../../../src/main/models/cloud'
import type { ModelEvent, ModelRequest } from '../../../../src/main/models/model'
import { type RecordedServer, type Recording, serveRecording } from '../../../support/recorded-server'

const open: RecordedServer[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

/** Resolves when no connection is open any more. */
async function closed(server: RecordedServer): Promise<void> {
  for (let i = 0; i < 200 && (await server.connections()) > 0; i++) await sleep(10)
  expect(await server.connections()).toBe(0)
}

const INFO: ModelInfo = { id: 'x:m', name: 'm', source: 'ollama', tools: true, ready: true }
const never = new AbortController().signal
const ask = (messages: readonly Message[] = [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }]): ModelRequest => ({
  system: 'Be brief.',
  messages,
  tools: [{ name: 'peek', description: 'looks', parameters: { properties: { n: { type: 'number' } } } }],
  maxOutputTokens: 99
})

async function serve(text: string, more: Partial<Recording> = {}): Promise<RecordedServer> {
  const http = { status: 200, headers: { 'content-type': 'text/event-stream' } }
  const server = await serveRecording({ http, chunks: text === '' ? [] : [Buffer.from(text)], end: 'eof', ...more })
  open.push(server)
  return server
}
const modelAt = (url: string, kind: CloudKind = 'openai-compatible', more: Partial<CloudOptions> = {}) =>
  openCloudModel({
    kind,
    baseURL: `${url}/v1`,
    apiKey: () => Promise.resolve('k-1'),
    model: 'm',
    info: INFO,
    contextWindow: 8_000,
    ...more
  })
async function collect(stream: AsyncIterable<ModelEvent>) {
  const events: ModelEvent[] = []
  for await (const event of stream) events.push(event)
  const words = (type: 'text' | 'thinking'): string => events.flatMap((e) => (e.type === type ? [e.delta] : [])).join('')
  return {
    events,
    text: words('text'),
    thinking: words('thinking'),
    calls: events.flatMap((e) => (e.type === 'call' ? [e] : [])),
    last: events.at(-1),
    error: events.flatMap((e) => (e.type === 'error' ? [e.error] : []))[0]
  }
}
const data = (...values: unknown[]): string => values.map((v) => `data: ${typeof v === 'string' ? v : JSON.stringify(v)}\n\n`).join('')
const delta = (value: object, reason: string | null = null): object => ({ choices: [{ index: 0, delta: value, finish_reason: reason }] })
const HELLO = data(delta({ content: 'Hello' }), delta({}, 'stop'), '[DONE]')
const CLAUDE = [
  {
    type: 'message_start',
    message: { id: 'm', role: 'assistant', content: [], usage: { input_tokens: 7, cache_read_input_tokens: 5, output_tokens: 1 } }
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'abc' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 't1', name: 'peek', input: {} } },
  { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"n":' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '1}' } },
  { type: 'content_block_stop', index: 1 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 30 } },
  { type: 'message_stop' }
]

const HISTORY: Message[] = [
  {
    role: 'user',
    parts: [
      { type: 'text', text: 'look' },
      { type: 'image', mime: 'image/png', data: 'AAAA' }
    ]
  },
  {
    role: 'assistant',
    model: 'm',
    stopReason: 'calls',
    parts: [
      { type: 'thinking', text: 'secret' },
      { type: 'text', text: '' },
      { type: 'call', id: 'a', name: 'peek', arguments: '{"n":1}' },
      { type: 'call', id: 'b', name: 'peek', arguments: '{"n":' }
    ]
  },
  {
    role: 'tool',
    callId: 'a',
    name: 'peek',
    code: 'ok',
    text: 'seen',
    images: [{ type: 'image', mime: 'image/png', data: 'BBBB' }],
    durationMs: 1
  },
  { role: 'tool', callId: 'b', name: 'peek', code: 'bad_json', text: 'unreadable', durationMs: 0 }
]

describe('a request', () => {
  it('speaks chat completions, with the key that was asked for', async () => {
    const server = await serve(HELLO)
    expect((await collect(modelAt(server.url).stream(ask(HISTORY), never))).text).toBe('Hello')
    const [sent] = server.requests
    expect(sent?.path).toBe('/v1/chat/completions')
    expect(sent?.headers.authorization).toBe('Bearer k-1')
    const body = JSON.parse(sent?.body ?? '{}') as { messages: object[]; tools: object[] }
    expect(body).toMatchObject({ model: 'm', max_tokens: 99, stream: true, stream_options: { include_usage: true } })
    expect(body.messages).toMatchObject([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ text: 'look' }, { image_url: { url: 'data:image/png;base64,AAAA' } }] },
      {
        role: 'assistant',
        tool_calls: [
          { id: 'a', function: { name: 'peek', arguments: '{"n":1}' } },
          { id: 'b', function: { arguments: '{"unreadable":"{\\"n\\":"}' } }
        ]
      },
      { role: 'tool', tool_call_id: 'a', content: 'seen' },
      { role: 'tool', tool_call_id: 'b', content: 'unreadable' },
      { role: 'user', content: [{}, { image_url: { url: 'data:image/png;base64,BBBB' } }] }
    ])
    expect(body.tools).toMatchObject([
      { function: { name: 'peek', parameters: { type: 'object', properties: { n: { type: 'number' } } } } }
    ])
    expect(sent?.body).not.toContain('secret')
  })
  it('speaks to OpenAI itself', async () => {
    const server = await serve(HELLO)
    expect((await collect(modelAt(server.url, 'openai').stream(ask(), never))).last).toMatchObject({ type: 'end', stopReason: 'stop' })
    expect(server.requests[0]).toMatchObject({ path: '/v1/chat/completions', headers: { authorization: 'Bearer k-1' } })
  })
  it('speaks messages, with results and their images in one', async () => {
    const server = await serve(data(...CLAUDE))
    const told = await collect(modelAt(server.url, 'anthropic').stream(ask(HISTORY), never))
    const [sent] = server.requests
    expect(sent).toMatchObject({ path: '/v1/messages', headers: { 'x-api-key': 'k-1' } })
    const body = JSON.parse(sent?.body ?? '{}') as { messages: { role: string; content: object[] }[] }
    expect(body.messages.map((m) => m.role)).toEqual(['user', 'assistant', 'user'])
    expect(body.messages[2]?.content).toMatchObject([
      { type: 'tool_result', tool_use_id: 'a', content: [{ text: 'seen' }, { type: 'image' }] },
      { type: 'tool_result', tool_use_id: 'b', is_error: true }
    ])
    expect(told.thinking).toBe('Hm.')
    expect(told.calls).toEqual([{ type: 'call', id: 't1', name: 'peek', arguments: '{"n":1}' }])
    expect(told.last).toEqual({ type: 'end', stopReason: 'stop', usage: { inputTokens: 12, cachedInputTokens: 5, outputTokens: 30 } })
  })
  it('takes nothing from the environment', async () => {
    const server = await serve(HELLO)
    for (const name of ['OPENAI_BASE_URL', 'ANTHROPIC_BASE_URL', 'OPENAI_API_KEY', 'ANTHROPIC_API_KEY'])
      process.env[name] = 'http://127.0.0.1:9'
    try {
      for (const kind of ['openai', 'anthropic', 'openai-compatible'] as const)
        await collect(modelAt(server.url, kind).stream(ask(), never))
      expect(server.requests).toHaveLength(3)
      expect(JSON.stringify(server.requests)).not.toContain('127.0.0.1:9"')
    } finally {
      for (const name of ['OPENAI_BASE_URL', 'ANTHROPIC_BASE_URL', 'OPENAI_API_KEY', 'ANTHROPIC_API_KEY'])
        Reflect.deleteProperty(process.env, name)
    }
  })
  it('does not follow a redirect with its key', async () => {
    const target = await serve(HELLO)
    const server = await serve('', { http: { status: 307, headers: { location: `${target.url}/v1/chat/completions` } } })
    expect((await collect(modelAt(server.url).stream(ask(), never))).error?.code).toBe('unreachable')
    expect(target.requests).toEqual([])
  })
})

describe('an answer', () => {
  it('tells thinking, words and the phases apart', async () => {
    const server = await serve(data(delta({ reasoning_content: 'Hm.' }), delta({ content: 'Yes' }), delta({}, 'stop')))
    const told = await collect(modelAt(server.url).stream(ask(), never))
    expect([told.thinking, told.text]).toEqual(['Hm.', 'Yes'])
    expect(told.events.flatMap((e) => (e.type === 'phase' ? [e.phase.phase] : []))).toEqual(['queued', 'reading', 'writing'])
  })
  it('tells thinking from words where the server leaves it between tags', async () => {
    const server = await serve(data(delta({ content: '<thi' }), delta({ content: 'nk>Hm.</think>Yes' }), delta({}, 'stop')))
    expect(await collect(modelAt(server.url).stream(ask(), never))).toMatchObject({ thinking: 'Hm.', text: 'Yes' })
  })
  it('counts tokens, the cached ones too, and says nothing where nothing was said', async () => {
    const usage = { prompt_tokens: 9, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 4 } }
    const told = await serve(data(delta({ content: 'a' }, 'stop'), { choices: [], usage }, '[DONE]'))
    expect((await collect(modelAt(told.url).stream(ask(), never))).last).toMatchObject({
      usage: { inputTokens: 9, cachedInputTokens: 4, outputTokens: 2 }
    })
    expect((await collect(modelAt((await serve(HELLO)).url).stream(ask(), never))).last).toMatchObject({ usage: {} })
  })
  it('may be whole, from a server that does not stream', async () => {
    const message = { role: 'assistant', content: 'Hi', tool_calls: [{ id: 'c', function: { name: 'peek', arguments: { n: 1 } } }] }
    const openai = await serve(JSON.stringify({ choices: [{ message, finish_reason: 'tool_calls' }] }))
    const anthropic = await serve(
      JSON.stringify({
        type: 'message',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'tool_use', id: 'c', name: 'peek', input: { n: 1 } }
        ],
        stop_reason: 'tool_use'
      })
    )
    for (const model of [modelAt(openai.url), modelAt(anthropic.url, 'anthropic')]) {
      const told = await collect(model.stream(ask(), never))
      expect(told).toMatchObject({ text: 'Hi', calls: [{ id: 'c', name: 'peek', arguments: '{"n":1}' }], last: { type: 'end' } })
    }
  })
  it('may be cut anywhere, in the middle of a letter too', async () => {
    const bytes = Buffer.from(`\uFEFF${data(delta({ content: 'привет 🚀' }), delta({}, 'stop'))}`)
    for (let at = 1; at < bytes.length; at++) {
      const server = await serve('', { chunks: [bytes.subarray(0, at), bytes.subarray(at)] })
      expect((await collect(modelAt(server.url).stream(ask(), never))).text).toBe('привет 🚀')
    }
  })
  it('says that the token limit cut it', async () => {
    const server = await serve(data(delta({ content: 'a' }), delta({}, 'length')))
    expect((await collect(modelAt(server.url).stream(ask(), never))).last).toMatchObject({ type: 'end', stopReason: 'length' })
  })
  it('ends with the word of the server, though the connection stays open', async () => {
    const server = await serve(HELLO, { end: 'open' })
    expect((await collect(modelAt(server.url).stream(ask(), never))).last).toMatchObject({ type: 'end' })
    await closed(server)
  })
  it('leaves its connection to the next request', async () => {
    const server = await serve(HELLO)
    const model = modelAt(server.url)
    for (let i = 0; i < 3; i++) {
      await collect(model.stream(ask(), never))
      await sleep(20)
    }
    expect(new Set(server.requests.map((r) => r.port)).size).toBe(1)
  })
  it('hands out no call of an answer that broke off, however far it got', async () => {
    const bytes = Buffer.from(data(...CLAUDE.slice(0, -2)))
    for (let at = 0; at <= bytes.length; at += 37) {
      const server = await serve('', { chunks: [bytes.subarray(0, at)] })
      const told = await collect(modelAt(server.url, 'anthropic').stream(ask(), never))
      expect(told.calls).toEqual([])
      expect(told.error).toMatchObject({ code: 'incomplete_stream', retryable: true })
    }
  })
  it('keeps what came when the connection breaks', async () => {
    const server = await serve(data(delta({ content: 'Half' })), { end: 'reset' })
    expect(await collect(modelAt(server.url).stream(ask(), never))).toMatchObject({ text: 'Half', error: { code: 'incomplete_stream' } })
  })
  it('is given up when nothing comes any more', async () => {
    const late = { firstMs: 150, idleMs: 150 }
    const silent = await serve('', { end: 'open' })
    expect((await collect(modelAt(silent.url, 'openai', late).stream(ask(), never))).error?.code).toBe('idle_timeout') // headers came
    const half = await serve(data(delta({ content: 'Half' })), { end: 'open' })
    expect(await collect(modelAt(half.url, 'openai', late).stream(ask(), never))).toMatchObject({
      text: 'Half',
      error: { code: 'idle_timeout' }
    })
  })
})

describe('an error', () => {
  const error = (type: string, message: string): string => JSON.stringify({ type: 'error', error: { type, message } })
  it.each([
    [401, error('authentication_error', 'invalid x-api-key'), 'refused', false],
    [403, '{}', 'refused', false],
    [402, '{}', 'no_credit', false],
    [429, error('rate_limit_error', 'slow'), 'busy', true],
    [429, '{"error":{"type":"insufficient_quota","message":"You exceeded your current quota"}}', 'no_credit', false],
    [404, '{"error":{"code":"model_not_found","message":"no such model"}}', 'model_missing', false],
    [400, '{"error":{"code":"context_length_exceeded","message":"too long"}}', 'context_overflow', false],
    [400, error('invalid_request_error', 'prompt is too long: 9 tokens'), 'context_overflow', false],
    [400, error('invalid_request_error', 'tools.0: bad'), 'bad_request', false],
    [500, '', 'crashed', true],
    [502, '<html><body>Bad gateway</body></html>', 'crashed', true],
    [503, '', 'busy', true],
    [529, error('overloaded_error', 'Overloaded'), 'busy', true]
  ])('of status %d means %s', async (status, body, code, retryable) => {
    const server = await serve(body, { http: { status, headers: {} } })
    for (const kind of ['openai', 'anthropic'] as const) {
      const { error: fault, last } = await collect(modelAt(server.url, kind).stream(ask(), never))
      expect(fault).toMatchObject({ code, retryable })
      expect(fault?.message).not.toContain('<')
      expect(last?.type).toBe('error')
    }
  })
  it.each([
    ['nothing at all', '', 'incomplete_stream'],
    ['a web page', '<!doctype html><p>Welcome', 'bad_answer'],
    ["some other server's JSON", '{"hello":"world"}', 'bad_answer'],
    ['an error as the whole body', '{"error":{"message":"boom","code":500}}', 'crashed'],
    ['half of a JSON body', '{"choices":[{"message":{"content":"Hi', 'incomplete_stream'],
    ['plain words', 'upstream connect error', 'bad_answer'],
    ['an event that is no JSON', 'data: {"choices": oops}\n\ndata: [DONE]\n\n', 'bad_answer'],
    ['a filter', data(delta({ content: 'Well' }), delta({}, 'content_filter')), 'filtered'],
    ['a call without a name', data(delta({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }, 'tool_calls')), 'bad_tool_output']
  ])('is told from an answer: %s', async (_what, body, code) => {
    const server = await serve(body)
    const told = await collect(modelAt(server.url).stream(ask(), never))
    expect(told.error?.code).toBe(code)
    expect(told.events.filter((e) => e.type === 'end' || e.type === 'error')).toHaveLength(1)
  })
  it('is unreachable when nobody listens, and crashed when the connection is cut before an answer', async () => {
    const server = await serve('')
    await server.close()
    open.pop()
    expect((await collect(modelAt(server.url).stream(ask(), never))).error).toMatchObject({ code: 'unreachable', retryable: true })
    const cutter = createServer((request) => request.socket.resetAndDestroy()).listen(0, '127.0.0.1')
    await once(cutter, 'listening')
    const url = `http://127.0.0.1:${String((cutter.address() as AddressInfo).port)}`
    expect((await collect(modelAt(url).stream(ask(), never))).error?.code).toBe('crashed')
    cutter.close()
  })
  it('is one even when the key cannot be had', async () => {
    const server = await serve(HELLO)
    const locked = modelAt(server.url, 'openai', { apiKey: () => Promise.reject(new Error('the key ring is locked')) })
    expect((await collect(locked.stream(ask(), never))).error?.message).toContain('the key ring is locked')
    expect(server.requests).toEqual([])
  })
})

describe('an abort', () => {
  it.each(['openai', 'openai-compatible', 'anthropic'] as const)('ends the stream and frees the socket: %s', async (kind) => {
    const begun = kind === 'anthropic' ? data(...CLAUDE.slice(0, 3)) : data(delta({ content: 'Half' }))
    const server = await serve(begun, { end: 'open' })
    const stop = new AbortController()
    const events: ModelEvent[] = []
    for await (const event of modelAt(server.url, kind).stream(ask(), stop.signal)) {
      events.push(event)
      if (event.type === 'text' || event.type === 'thinking') stop.abort()
    }
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: 'aborted', retryable: false } })
    await closed(server)
  })
  it('also when the reader just leaves', async () => {
    const server = await serve(data(delta({ content: 'Half' })), { end: 'open' })
    for await (const event of modelAt(server.url).stream(ask(), never)) if (event.type === 'text') break
    await closed(server)
  })
  it('does not wait for a key that nobody unlocks', async () => {
    const server = await serve(HELLO)
    const locked = modelAt(server.url, 'openai', { apiKey: () => new Promise(() => undefined) })
    const stop = new AbortController()
    setTimeout(() => {
      stop.abort()
    }, 20)
    expect((await collect(locked.stream(ask(), stop.signal))).error?.code).toBe('aborted')
  })
  it('before the request asks nobody', async () => {
    const server = await serve(HELLO)
    expect((await collect(modelAt(server.url).stream(ask(), AbortSignal.abort()))).error?.code).toBe('aborted')
    expect(server.requests).toEqual([])
  })
})
