import { fireEvent, screen } from '@testing-library/svelte'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { cutsOf } from '../../src/renderer/src/markup/cuts'
import { type DiffLine, linesOf, rowsOf } from '../../src/renderer/src/markup/diff'
import Diff from '../../src/renderer/src/views/tool/Diff.svelte'
import { completeJsdom, draw } from './support'

beforeEach(completeJsdom)

const line = fc.record({
  kind: fc.constantFrom('add', 'remove', 'same', 'same', 'same', 'hunk', 'note'),
  text: fc.string()
}) as fc.Arbitrary<DiffLine>
const same = (count: number, name = 'line'): string => Array.from({ length: count }, (_, i) => ` ${name} ${String(i)}`).join('\n')

describe('what is folded', () => {
  it('is unchanged lines only, nothing is lost, and a change keeps its neighbours', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), (lines) => {
        const rows = rowsOf(lines, new Set())
        const back = rows.flatMap((row) => (row.kind === 'fold' ? lines.slice(row.from, row.from + row.count) : [row]))
        expect(back).toEqual(lines)
        for (const row of rows) {
          if (row.kind !== 'fold') continue
          expect(row.count).toBeGreaterThan(3)
          for (const [edge, by] of [
            [row.from - 1, -1],
            [row.from + row.count, 1]
          ] as const) {
            let at = edge
            while (lines[at]?.kind === 'same') at += by
            if (lines[at]?.kind === 'add' || lines[at]?.kind === 'remove') expect(Math.abs(at - edge)).toBe(3)
          }
          expect(new Set(lines.slice(row.from, row.from + row.count).map((l) => l.kind))).toEqual(new Set(['same']))
        }
      })
    )
  })

  it('opens one at a time', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), (lines) => {
        const folds = rowsOf(lines, new Set()).flatMap((row) => (row.kind === 'fold' ? [row.from] : []))
        expect(rowsOf(lines, new Set(folds))).toEqual(lines)
        const [first] = folds
        if (first === undefined) return
        expect(rowsOf(lines, new Set([first])).filter((row) => row.kind === 'fold')).toHaveLength(folds.length - 1)
      })
    )
  })

  it('is shown when it is asked for', async () => {
    draw(Diff, { diff: `@@ -1,21 +1,21 @@\n${same(10, 'a')}\n-old\n+new\n${same(10, 'b')}`, path: 'a.md' })
    const shown = () => [...screen.getByTestId('diff').querySelectorAll('.diff-text')].map((l) => l.textContent)
    expect(shown()).toEqual(['a 7', 'a 8', 'a 9', 'old', 'new', 'b 0', 'b 1', 'b 2'])
    await fireEvent.click(screen.getAllByTestId('diff-fold')[0] as HTMLElement)
    expect(shown().slice(0, 3)).toEqual(['a 0', 'a 1', 'a 2'])
    expect(screen.getAllByTestId('diff-fold')).toHaveLength(1)
  })
})

it('a text and its marks of cuts are the same text', () => {
  const piece = fc.constantFrom('[cut: 3 more lines]', '[… 2 more characters]', '[', ']', 'words', '\n', '[cut: ', '…')
  fc.assert(
    fc.property(fc.array(piece), (parts) => {
      const pieces = cutsOf(parts.join(''))
      expect(pieces.map((p) => p.text).join('')).toBe(parts.join(''))
      for (const { text, cut } of pieces) if (cut) expect(text).toMatch(/^\[(cut: |… )[^\n]*\]$/)
    })
  )
})

it('keeps what is no line of a difference', () => {
  expect(linesOf('@@ @@\n (too large to show)\nodd')).toEqual([
    { kind: 'note', text: '@@ @@' },
    { kind: 'same', text: '(too large to show)', old: 1, new: 1 },
    { kind: 'note', text: 'odd' }
  ])
})
