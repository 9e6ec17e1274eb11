import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasUnseen, mixesScripts, piecesOf } from '../../src/renderer/src/markup/visible'

const marks = (text: string) => piecesOf(text).flatMap((p) => (p.kind === 'mark' ? [p.name] : []))
/** The text again, from its pieces. */
const again = (text: string) =>
  piecesOf(text)
    .map((p) => (p.kind === 'text' ? p.text : p.kind === 'gap' ? ' '.repeat(p.count) : String.fromCodePoint(parseInt(p.name.slice(2), 16))))
    .join('')

// https://github.com/kovyrin/agent-secret/issues/66
describe('a command that is not what it seems', () => {
  it.each([
    ['rm -r \u202etxt.seton', ['U+202E']],
    ['echo ok\u200b\u200b && rm\u200b -r x', ['U+200B', 'U+200B', 'U+200B']],
    ["git commit -m 'שלום \u2066x\u2069'", ['U+2066', 'U+2069']],
    ['ls\rrm -r src', ['U+000D']],
    ['a\u00adb\u3164c\u{e0041}\ufeff\u001b[8m', ['U+00AD', 'U+3164', 'U+E0041', 'U+FEFF', 'U+001B']]
  ])('%j shows its marks', (text, expected) => {
    expect(marks(text)).toEqual(expected)
    expect(hasUnseen(text)).toBe(true)
  })

  it('marks a gap that pushes text out of sight', () => {
    expect(piecesOf(`ls${' '.repeat(300)}; rm -r src`)[1]).toEqual({ kind: 'gap', count: 300 })
  })

  it('warns of letters from two alphabets in one word only', () => {
    expect(mixesScripts('cat \u0430.txt')).toBe(true)
    expect(mixesScripts('cat файл')).toBe(false)
  })
})

describe('honest text', () => {
  it.each(['ls -la\n\tcat x', 'שלום עולם', '日本語', '👩‍👩‍👧 ❤️', 'if x:\n        return 1', 'two\r\nlines'])('%j raises no alarm', (text) => {
    expect(hasUnseen(text)).toBe(false)
    expect(mixesScripts(text)).toBe(false)
  })

  it('loses nothing and puts nothing in another order', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        expect(again(text)).toBe(text)
      })
    )
  })
})
