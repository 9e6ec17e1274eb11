// Names of exported files: every system takes them.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fileNameFor } from '../../../../src/main/store/transfer'

describe('the name of an exported file', () => {
  it.each([
    ['a/b\\c:*?"<>|\u202e.txt', 'a-b-c-.txt.md'],
    ['', 'session.md'],
    ['...', 'session.md'],
    ['../../etc/passwd', 'etc-passwd.md'],
    ['CON', 'session-CON.md'],
    ['nul.txt', 'session-nul.txt.md'],
    ['Com¹ .x', 'session-Com¹ .x.md'],
    ['CONOUT$', 'session-CONOUT$.md'],
    ['console', 'console.md'],
    ['温室 nights', '温室 nights.md'],
    ['a\u0000b\u2028c\u200f', 'abc.md'],
    ['half \ud83d', 'half.md']
  ])('%j is safe', (title, name) => {
    expect(fileNameFor(title, 'md')).toBe(name)
  })
  it('fits every file system, whatever the title', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (title) => {
        const name = fileNameFor(title, 'jsonl')
        expect(Buffer.byteLength(name)).toBeLessThan(255)
        expect(name).toMatch(/^[^/\\:*?"<>|\p{Cc}\p{Cf}]+\.jsonl$/u)
        expect(name).not.toMatch(/^[.\s]|[.\s]\.jsonl$/)
      })
    )
  })
})
