import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { StreamFn } from '../../../src/main/models/model'
import { createChat, type ChatTarget } from '../../../src/main/models/ollama/chat'
import { ask, collect, type FakeServer, playRecording, sendFrames, sendJson, startServer, tool } from './fake-ollama'

const never = new AbortController().signal
const chatWith = (server: Pick<FakeServer, 'url'>, more: Partial<ChatTarget> = {}): StreamFn =>
  createChat({
    model: 'agent',
    window: 2_048,
    tools: true,
    phases: 'watched',
    connect: () => Promise.resolve({ ok: true, value: { baseUrl: server.url } }),
    ...more
  })
const weather = { tools: [tool('get_weather'), tool('read_file')] }
const frame = (content: string, more: object = {}): object => ({ message: { role: 'assistant', content }, done: false, ...more })
const done = (more: object = {}): object => ({ message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop', ...more })

describe('answers recorded from a real Ollama', () => {
  const play = async (name: string, step = 0, request = ask('x', weather)) =>
    collect(chatWith(await playRecording(name, step))(request, never))

  it('takes a call from the last frame (native path) and from an ordinary one (rendered path)', async () => {
    for (const name of ['tools-weather-agent', 'tools-weather-agent-go']) {
      const told = await play(name)
      expect(told.calls).toMatchObject([{ name: 'get_weather', arguments: '{"city":"Paris"}' }])
      expect(told.calls[0]?.id).toMatch(/^\w+$/)
      expect(told.end?.stopReason).toBe('calls')
    }
  })

  it('takes two calls of one turn in their order', async () => {
    const told = await play('tools-two-agent')
    expect(told.calls.map((c) => c.arguments)).toEqual(['{"path":"a.txt"}', '{"path":"b.txt"}'])
  })

  it('gives text whole, with usage in milliseconds', async () => {
    const told = await play('chat-utf8-agent')
    expect(told.text).toMatch(/^Grüße 世界/)
    expect(told.end).toMatchObject({ stopReason: 'stop', usage: { inputTokens: 18, outputTokens: 6, writeMs: 4.110999 } })
  })

  it('says that the token limit cut an answer', async () => {
    expect((await play('chat-length')).end?.stopReason).toBe('length')
  })

  it('separates thinking, whether the server did or left the tags in the text', async () => {
    const served = await play('think-true-agent-think')
    expect(served.thinking).toBe('Let me reason briefly.')
    const tagged = await play('think-tags-in-content')
    expect(tagged.thinking).toBe('Let me reason briefly.')
    expect(tagged.text).not.toContain('think>')
  })

  it('hides raw call text that the server leaks beside the call it read', async () => {
    const told = await play('think-tools-agent-go')
    expect(told.text).not.toContain('tool_call')
    expect(told.calls).toHaveLength(1)
    expect(told.end?.stopReason).toBe('calls')
  })

  it('counts a clean end without the last frame as incomplete', async () => {
    const told = await play('chat-repeat-agent-go')
    expect(told.text).toContain('ha ha')
    expect(told.error).toMatchObject({ code: 'incomplete_stream', retryable: true })
  })

  it('tells lost output from an empty answer', async () => {
    expect((await play('tools-badjson-odd-go')).error).toMatchObject({ code: 'bad_tool_output', retryable: true })
  })

  it.each([
    ['overflow-single-agent', 0, 'context_overflow'],
    ['err-model-missing', 0, 'model_missing'],
    ['tools-unsupported', 1, 'capability_missing'],
    ['tools-unknown-odd', 0, 'bad_tool_output'],
    ['tools-length-native', 1, 'bad_tool_output'],
    ['tools-length-native', 0, 'bad_tool_output'],
    ['queue-full-503', 0, 'busy'],
    ['crash-runner-mid-stream', 0, 'crashed'],
    ['crash-server-mid-stream', 0, 'incomplete_stream']
  ])('%s, step %i: %s', async (name, step, code) => {
    const told = await play(name, step)
    expect(told.error?.code).toBe(code)
    expect(told.events.filter((e) => e.type === 'error' || e.type === 'end')).toHaveLength(1)
  })

  it('names the sizes of an overflow', async () => {
    expect((await play('overflow-single-agent')).error?.message).toContain('4685 of 512 tokens')
  })
})

describe('what a stream does', () => {
  it('states window, limit and no truncation in every request, and leaves out tools that the model cannot use', async () => {
    const server = await startServer((request, answer) => {
      if (request.url === '/api/chat') sendFrames(answer, [frame('hi'), done()])
      else sendJson(answer, { models: [] })
    })
    await collect(chatWith(server)(ask('x', { ...weather, maxOutputTokens: 0 }), never))
    await collect(chatWith(server, { tools: false })(ask('x', weather), never))
    const [first, second] = server.seen.filter((s) => s.path === '/api/chat').map((s) => JSON.parse(s.body) as Record<string, unknown>)
    expect(first).toMatchObject({ truncate: false, stream: true, options: { num_ctx: 2_048, num_predict: 1 } })
    expect(first?.['tools']).toHaveLength(2)
    expect(second).not.toHaveProperty('tools')
  })

  it('ends with `aborted` within 50 ms and closes the socket, before the headers and in the middle', async () => {
    for (const begin of [false, true]) {
      const server = await startServer((request, answer) => {
        if (request.url !== '/api/chat') sendJson(answer, { models: [] })
        else if (begin) answer.writeHead(200).write(JSON.stringify(frame('a')) + '\n')
      })
      const stop = new AbortController()
      let at = 0
      setTimeout(() => {
        at = performance.now()
        stop.abort()
      }, 100)
      const told = await collect(chatWith(server)(ask('x'), stop.signal))
      expect(performance.now() - at).toBeLessThan(50)
      expect(told.error).toMatchObject({ code: 'aborted', retryable: false })
      await expect.poll(server.open, { timeout: 500 }).toBe(0)
    }
  })

  it('closes the socket when the reader leaves early', async () => {
    const server = await startServer((request, answer) => {
      if (request.url !== '/api/chat') sendJson(answer, { models: [] })
      else answer.writeHead(200).write(JSON.stringify(frame('a')) + '\n')
    })
    for await (const event of chatWith(server)(ask('x'), never)) if (event.type === 'text') break
    await expect.poll(server.open, { timeout: 500 }).toBe(0)
  })

  it('does not connect at all when it is aborted already', async () => {
    const server = await startServer((_request, answer) => {
      answer.end()
    })
    const told = await collect(chatWith(server)(ask('x'), AbortSignal.abort()))
    expect(told.events).toEqual([{ type: 'error', error: expect.objectContaining({ code: 'aborted' }) as unknown }])
    expect(server.seen).toEqual([])
  })

  it('tells loading from reading by the list of loaded models', async () => {
    let loaded = false
    const server = await startServer((request, answer) => {
      if (request.url === '/api/ps') {
        sendJson(answer, { models: loaded ? [{ name: 'agent:latest' }] : [] })
        loaded = true
      } else
        setTimeout(() => {
          sendFrames(answer, [frame('hi'), done()])
        }, 2_400)
    })
    const told = await collect(chatWith(server)(ask('x'), never))
    expect(told.phases).toEqual(['queued', 'loading', 'reading', 'writing'])
  })

  it('passes on the phases that a server tells, with progress', async () => {
    const server = await startServer((_request, answer) => {
      sendFrames(answer, [frame('', { phase: 'loading' }), frame('', { phase: 'reading', progress: 0.5 }), frame('hi'), done()])
    })
    const told = await collect(chatWith(server, { phases: 'told' })(ask('x'), never))
    expect(told.events.filter((e) => e.type === 'phase').map((e) => e.phase)).toEqual([
      { phase: 'queued' },
      { phase: 'loading' },
      { phase: 'reading', progress: 0.5 },
      { phase: 'writing' }
    ])
  })

  it.each([
    ['first_token_timeout', false],
    ['idle_timeout', true]
  ])('gives up with %s', async (code, begin) => {
    const server = await startServer((request, answer) => {
      if (request.url !== '/api/chat') sendJson(answer, { models: [] })
      else if (begin) answer.writeHead(200).write(JSON.stringify(frame('a')) + '\n')
    })
    const limits = { coldMs: 150, warmMs: 150, idleMs: 150 }
    const told = await collect(chatWith(server, { limits })(ask('x'), never))
    expect(told.error).toMatchObject({ code, retryable: !begin })
  })

  it('takes calls that the model wrote as text, and keeps them out of the text', async () => {
    const call = '<tool_call>{"name":"read_file","arguments":{"path":"a"}}</tool_call>'
    const server = await startServer((_request, answer) => {
      sendFrames(answer, [frame('Sure. '), ...Array.from(call, (c) => frame(c)), done({ eval_count: 9 })])
    })
    const told = await collect(chatWith(server, { phases: 'told' })(ask('x', weather), never))
    expect(told.text).toBe('Sure.')
    expect(told.calls).toEqual([{ name: 'read_file', arguments: '{"path":"a"}' }])
    expect(told.end?.stopReason).toBe('calls')
  })

  it('takes a call once that comes as text and as a call', async () => {
    const server = await startServer((_request, answer) => {
      const made = { function: { name: 'read_file', arguments: { path: 'a' } } }
      const text = '<tool_call>{"name":"read_file","arguments":{"path":"a"}}</tool_call>'
      sendFrames(answer, [frame(text), { message: { content: '', tool_calls: [made] }, done: true, done_reason: 'stop', eval_count: 9 }])
    })
    const told = await collect(chatWith(server, { phases: 'told' })(ask('x', weather), never))
    expect(told.calls).toEqual([{ name: 'read_file', arguments: '{"path":"a"}' }])
  })

  it('never hands out a call that the token limit cut', async () => {
    const server = await startServer((_request, answer) => {
      sendFrames(answer, [
        frame('<tool_call>{"name":"read_file","arguments":{"path":"a"}}'),
        done({ done_reason: 'length', eval_count: 9 })
      ])
    })
    const told = await collect(chatWith(server, { phases: 'told' })(ask('x', weather), never))
    expect(told.calls).toEqual([])
    expect(told.end?.stopReason).toBe('length')
  })

  it('is an error, not a hang or a throw, when the server talks nonsense', async () => {
    const server = await startServer((_request, answer) => {
      answer.writeHead(200).end('<html>hello</html>\n')
    })
    expect((await collect(chatWith(server, { phases: 'told' })(ask('x'), never))).error?.code).toBe('bad_answer')
  })

  it('says unreachable, retryable, when nobody listens', async () => {
    const server = await startServer(() => undefined)
    const port = new URL(server.url).port
    const gone = `http://127.0.0.1:${String(Number(port) === 1 ? 2 : 1)}`
    const told = await collect(chatWith({ url: gone })(ask('x'), never))
    expect(told.error).toMatchObject({ code: 'unreachable', retryable: true })
    // the good one is alive: only the address was wrong
    await new Promise<void>((resolve) => {
      const probe = connect(Number(port), '127.0.0.1', () => {
        probe.destroy()
        resolve()
      })
    })
  })

  it('sends the token of the endpoint', async () => {
    const server = await startServer((_request, answer) => {
      sendFrames(answer, [frame('hi'), done()])
    })
    const connect = () => Promise.resolve({ ok: true as const, value: { baseUrl: server.url, token: 's3cret' } })
    await collect(chatWith(server, { phases: 'told', connect })(ask('x'), never))
    expect(server.seen[0]?.headers.authorization).toBe('Bearer s3cret')
  })
})
