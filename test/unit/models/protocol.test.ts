import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message } from '../../../src/shared/message'
import { ollamaAddresses, staysLocal } from '../../../src/main/models/ollama/address'
import { buildChatBody, simplifySchema } from '../../../src/main/models/ollama/body'
import { createLineSplitter } from '../../../src/main/models/ollama/ndjson'
import { ask, tool } from './fake-ollama'

describe('lines of JSON', () => {
  it('come out the same however the bytes are cut', () => {
    const objects = fc.array(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' })), { maxLength: 6 })
    fc.assert(
      fc.property(objects, fc.array(fc.nat({ max: 7 }), { maxLength: 80 }), fc.boolean(), (values, sizes, lastBreak) => {
        const bytes = new TextEncoder().encode(values.map((v) => JSON.stringify(v)).join('\n') + (lastBreak ? '\r\n\n' : ''))
        const splitter = createLineSplitter()
        const lines = []
        let at = 0
        for (const size of sizes) {
          lines.push(...splitter.push(bytes.subarray(at, at + size)))
          at += size
        }
        lines.push(...splitter.push(bytes.subarray(at)), ...splitter.end())
        expect(lines).toEqual(values.map((value) => ({ ok: true, value })))
      })
    )
  })

  it('hands out what is no object as such, and does not grow without limit', () => {
    const splitter = createLineSplitter(10)
    const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
    expect(splitter.push(bytes('[1]\nnull\n'))).toEqual([
      { ok: false, text: '[1]' },
      { ok: false, text: 'null' }
    ])
    expect(splitter.push(bytes('{"a":"aaaaaaaaaaaa'))).toEqual([{ ok: false, text: '{"a":"aaaaaaaaaaaa' }])
  })
})

const history: Message[] = [
  { role: 'user', parts: [{ type: 'text', text: 'list' }] },
  {
    role: 'assistant',
    model: 'ollama:agent',
    stopReason: 'calls',
    parts: [
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'Looking.' },
      { type: 'call', id: 'c1', name: 'list_dir', arguments: '{"b":1,"a":2}' },
      { type: 'call', id: 'c2', name: 'list_dir', arguments: 'not json' }
    ]
  },
  { role: 'tool', callId: 'c1', name: 'list_dir', code: 'ok', text: 'a.txt', durationMs: 1 }
]

describe('the body of a request', () => {
  it('sends arguments as objects in the order of their keys, results under both names', () => {
    const body = buildChatBody(ask('x', { messages: history, tools: [tool('list_dir')] }), { model: 'agent', window: 1_024, tools: true })
    expect(body.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'list' },
      {
        role: 'assistant',
        content: 'Looking.',
        thinking: 'hm',
        tool_calls: [
          { id: 'c1', function: { name: 'list_dir', arguments: { b: 1, a: 2 } } },
          { id: 'c2', function: { name: 'list_dir', arguments: { unreadable: 'not json' } } }
        ]
      },
      { role: 'tool', content: 'a.txt', tool_name: 'list_dir', tool_call_id: 'c1' }
    ])
    expect(JSON.stringify(body)).toContain('{"b":1,"a":2}')
  })

  it('tells a model without tools in words what another one did', () => {
    const body = buildChatBody(ask('x', { messages: history, tools: [tool('list_dir')] }), { model: 'smol', window: 1_024, tools: false })
    expect(body).not.toHaveProperty('tools')
    expect(JSON.stringify(body.messages)).not.toContain('tool_calls')
    expect(body.messages).toContainEqual({ role: 'user', content: 'Result of list_dir:\na.txt' })
  })

  it('is a prefix of the next request: what was sent once is sent the same again', () => {
    const options = { model: 'agent', window: 1_024, tools: true }
    const first = JSON.stringify(buildChatBody(ask('x', { messages: history.slice(0, 1) }), options)['messages'])
    const next = JSON.stringify(buildChatBody(ask('x', { messages: history }), options)['messages'])
    expect(next.startsWith(first.slice(0, -1))).toBe(true)
  })

  it('flattens schemas that servers refuse', () => {
    const schema = {
      type: 'object',
      properties: { a: true, b: { type: 'array', items: true }, c: { oneOf: [{ type: 'string' }] }, d: { const: 'x' } }
    }
    expect(simplifySchema(schema)).toEqual({
      type: 'object',
      properties: { a: {}, b: { type: 'array' }, c: { anyOf: [{ type: 'string' }] }, d: { enum: ['x'] } }
    })
    expect(simplifySchema({ type: 'object' })).toEqual({ type: 'object', properties: {} })
  })
})

describe('OLLAMA_HOST', () => {
  it.each([
    [undefined, ['http://127.0.0.1:11434', 'http://[::1]:11434']],
    ['', ['http://127.0.0.1:11434', 'http://[::1]:11434']],
    ['0.0.0.0', ['http://127.0.0.1:11434']],
    ['[::]:9000', ['http://[::1]:9000']],
    ['::1', ['http://[::1]:11434']],
    [':9000', ['http://127.0.0.1:9000', 'http://[::1]:9000']],
    ['localhost:9000', ['http://127.0.0.1:9000', 'http://[::1]:9000']],
    ['box.lan', ['http://box.lan:11434']],
    ['http://box.lan', ['http://box.lan']],
    ['https://box.lan/ollama/', ['https://box.lan/ollama']],
    ['"10.0.0.2:80"', ['http://10.0.0.2']],
    ['ftp://box.lan', ['http://127.0.0.1:11434', 'http://[::1]:11434']]
  ])('%s', (given, expected) => {
    expect(ollamaAddresses(given === undefined ? {} : { OLLAMA_HOST: given })).toEqual(expected)
  })

  it('knows what stays on this machine', () => {
    expect(['http://127.0.0.1:1', 'http://[::1]:1', 'http://localhost'].every(staysLocal)).toBe(true)
    expect(['http://127.0.0.1.evil.example', 'http://10.0.0.2', 'nonsense'].some(staysLocal)).toBe(false)
  })
})
