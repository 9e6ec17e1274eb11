import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createInert, inert } from '../../../../src/main/tools/command/inert'

describe('output of a program', () => {
  it.each([
    ['\x1b[31mred\x1b[0m', 'red'],
    ['\x1b]0;title\x07text', 'text'],
    ['\x1b]52;c;c2VjcmV0\x1b\\text', 'text'],
    ['\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\', 'link'],
    ['\x1bPq#0;2;0;0;0\x1b\\sixel', 'sixel'],
    ['\x9b31mred', 'red'],
    ['10%\r50%\r100%\n', '100%\n'],
    ['line\r\nnext\r\n', 'line\nnext\n'],
    ['abc\b\bX', 'aX'],
    ['a\x00b\x07c\x7f', 'abc'],
    ['ab\u202ecd\u2066e', 'abcde'],
    ['emoji 👩‍👩‍👧 文字\t|', 'emoji 👩‍👩‍👧 文字\t|'],
    ['\x1b(Bplain', 'plain'],
    ['no end \x1b[12', 'no end ']
  ])('%j is %j', (given, wanted) => {
    expect(inert(given)).toBe(wanted)
  })

  it('is told from text', () => {
    const made = createInert()
    made.push(Buffer.from(Array.from({ length: 1_000 }, (_, i) => i % 256)))
    made.end()
    expect(made.binary).toBe(true)
    const text = createInert()
    text.push(Buffer.from('ordinary text\n'.repeat(100)))
    expect(text.binary).toBe(false)
  })

  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc
      .array(fc.constantFrom('\x1b', '[', ']', 'm', '\r', '\n', '\b', 'a', '文', '👩‍👧', '\x07', '\x9b', '\x90', '\\', '3', ';', '\u202e'), {
        maxLength: 80
      })
      .map((a) => Buffer.from(a.join('')))
  )
  it('has no control characters, stays as it is, and does not depend on its pieces', () => {
    fc.assert(
      fc.property(bytes, fc.array(fc.nat(300), { maxLength: 6 }), (given, cuts) => {
        const whole = createInert()
        const once = whole.push(given) + whole.end()
        // eslint-disable-next-line no-control-regex -- that there are none is the point
        expect(once).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/)
        expect(inert(once)).toBe(once)
        const pieces = createInert()
        let text = ''
        let at = 0
        for (const cut of [...cuts].sort((a, b) => a - b)) {
          text += pieces.push(given.subarray(at, Math.max(at, cut)))
          at = Math.max(at, cut)
        }
        expect(text + pieces.push(given.subarray(at)) + pieces.end()).toBe(once)
      }),
      { numRuns: 2_000 }
    )
  })
})
