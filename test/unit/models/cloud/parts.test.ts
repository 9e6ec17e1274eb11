import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CallPiece, createCallCollector } from '../../../../src/main/models/cloud/calls'
import { createSseReader } from '../../../../src/main/models/cloud/sse'

const piece = (args: string, more: Partial<CallPiece> = {}): CallPiece => ({ index: undefined, id: '', name: '', arguments: args, ...more })
const collected = (...pieces: CallPiece[]): string[] => {
  const collector = createCallCollector()
  for (const p of pieces) collector.push(p)
  return collector.calls.map((c) => `${c.id}:${c.name}${c.arguments}`)
}

describe('pieces of calls', () => {
  it.each<[string, CallPiece[], string[]]>([
    [
      'by index, mixed',
      [
        piece('', { index: 0, id: 'a', name: 'x' }),
        piece('', { index: 1, id: 'b', name: 'y' }),
        piece('{"n":', { index: 0 }),
        piece('{}', { index: 1 }),
        piece('1}', { index: 0 })
      ],
      ['a:x{"n":1}', 'b:y{}']
    ],
    ['the same index and name for each', [piece('{}', { index: 0, name: 'x' }), piece('{}', { index: 0, name: 'x' })], [':x{}', ':x{}']],
    [
      'the same id for each',
      [piece('{}', { index: 0, id: 'a', name: 'x' }), piece('{}', { index: 1, id: 'a', name: 'x' })],
      ['a:x{}', ':x{}']
    ],
    [
      'another id with each piece of one',
      [piece('{"n', { index: 0, id: 'a', name: 'x' }), piece('":1}', { index: 0, id: 'b' })],
      ['a:x{"n":1}']
    ],
    ['the name with each piece of one', [piece('{"n', { index: 0, name: 'x' }), piece('":{}}', { index: 0, name: 'x' })], [':x{"n":{}}']],
    ['a name that comes late', [piece('{', { index: 0, id: 'a' }), piece('}', { index: 0, name: 'x' })], ['a:x{}']],
    ['an id that comes late', [piece('{', { index: 0, name: 'x' }), piece('}', { index: 0, id: 'a' })], ['a:x{}']],
    ['an index that comes late', [piece('{', { id: 'a', name: 'x' }), piece('}', { index: 0 })], ['a:x{}']],
    [
      'another call at the same place, before the first is whole',
      [piece('{"n"', { index: 0, id: 'a', name: 'x' }), piece('{}', { index: 0, id: 'b', name: 'y' })],
      ['a:x{"n"', 'b:y{}']
    ],
    ['two without arguments', [piece('', { index: 0, id: 'a', name: 'x' }), piece('', { index: 1, id: 'b', name: 'x' })], ['a:x', 'b:x']]
  ])('%s', (_what, pieces, calls) => {
    expect(collected(...pieces)).toEqual(calls)
  })
})

describe('server-sent events', () => {
  const read = (chunks: readonly Uint8Array[]): string[] => {
    const reader = createSseReader()
    return [...chunks.flatMap((c) => reader.push(c)), ...reader.end()].map((e) => `${e.name}|${e.data}`)
  }
  it('come out the same however they are framed and cut', () => {
    const event = fc.record({
      name: fc.constantFrom('', 'error'),
      lines: fc.array(
        fc.string({ unit: 'grapheme' }).map((s) => `"${s.replaceAll(/[\r\n"\\]/g, '')}`),
        { minLength: 1, maxLength: 3 }
      ),
      space: fc.boolean(),
      comment: fc.boolean()
    })
    fc.assert(
      fc.property(fc.array(event), fc.constantFrom('\n', '\r\n', '\r'), fc.array(fc.nat()), (events, end, cuts) => {
        const text = events
          .map(({ name, lines, space, comment }) =>
            [
              ...(comment ? [': ping'] : []),
              ...(name === '' ? [] : [`event:${name}`]),
              ...lines.map((l) => `data:${space ? ' ' : ''}${l}`),
              ''
            ]
              .map((l) => l + end)
              .join('')
          )
          .join('')
        const bytes = new TextEncoder().encode(text)
        const edges = [0, ...cuts.map((c) => c % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
        const pieces = edges.slice(1).map((to, i) => bytes.subarray(edges[i], to))
        expect(read(pieces)).toEqual(events.map((e) => `${e.name || 'message'}|${e.lines.join('\n')}`))
      })
    )
  })
  it('need no blank line at the end, nor between events that are JSON each', () => {
    expect(read([Buffer.from('data: {"a":1}\ndata: {"b":2}')])).toEqual(['message|{"a":1}', 'message|{"b":2}'])
    expect(read([Buffer.from('data: {"a":\ndata: 1}\n\n')])).toEqual(['message|{"a":\n1}'])
  })
  it('may not fill memory', () => {
    const reader = createSseReader(100)
    expect(() => reader.push(Buffer.from('data: '.repeat(40)))).toThrow(RangeError)
  })
})
