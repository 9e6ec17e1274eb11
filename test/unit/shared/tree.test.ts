import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toArray } from '../../../src/shared/list'
import type { Entry } from '../../../src/shared/session'
import { addEntry, emptyTree, entryOf, moveHead, pathTo, siblingsOf, type Tree, treeOf } from '../../../src/shared/tree'

const entry = (id: string, parentId: string | null): Entry => ({
  id,
  parentId,
  sessionId: 's',
  at: 0,
  type: 'message',
  message: { role: 'user', parts: [{ type: 'text', text: id }] }
})
/** As a person branches: the head goes to the parent first, and then follows. */
const grown = (tree: Tree, e: Entry): Tree => addEntry(moveHead(tree, e.parentId), e)
/** Each number picks the parent of the next entry among those that exist; 0 is the root. */
const grow = (choices: readonly number[]): Tree =>
  choices.reduce(
    (tree, choice, i) => grown(tree, entry(`e${String(i)}`, choice % (i + 1) === 0 ? null : `e${String((choice % (i + 1)) - 1)}`)),
    emptyTree()
  )
const choices = fc.array(fc.nat(), { minLength: 1, maxLength: 40 })

describe('a tree of entries', () => {
  it('has a path from a root to its head without gaps, whatever its shape', () => {
    fc.assert(
      fc.property(choices, fc.nat(), (shape, pick) => {
        const grown = grow(shape)
        const tree = moveHead(grown, `e${String(pick % shape.length)}`)
        const path = toArray(tree.path)
        expect(path[0]?.parentId).toBeNull()
        expect(path.at(-1)?.id).toBe(tree.head)
        for (const [i, e] of path.entries()) if (i > 0) expect(e.parentId).toBe(path[i - 1]?.id)
        expect(path).toEqual(pathTo(tree, tree.head))
      })
    )
  })

  it('knows every child of every entry once, oldest first', () => {
    fc.assert(
      fc.property(choices, (shape) => {
        const tree = grow(shape)
        for (const e of toArray(tree.entries)) {
          const siblings = siblingsOf(tree, e.id)
          expect(siblings).toEqual(
            toArray(tree.entries)
              .filter((x) => x.parentId === e.parentId)
              .map((x) => x.id)
          )
        }
      })
    )
  })

  it('leaves an older tree as it was when a newer one grows from it, also on two sides', () => {
    const old = grow([0, 1, 2])
    const left = addEntry(old, entry('left', 'e2'))
    const right = addEntry(old, entry('right', 'e2'))
    expect([left.head, right.head]).toEqual(['left', 'right'])
    expect(toArray(old.path).map((e) => e.id)).toEqual(['e0', 'e1', 'e2'])
    expect(siblingsOf(left, 'left')).toEqual(['left'])
    expect(siblingsOf(right, 'right')).toEqual(['right'])
    expect(entryOf(old, 'left')).toBeUndefined()
  })

  it('lets the head follow an entry only when it was at its parent', () => {
    const tree = addEntry(grow([0, 1, 2]), entry('aside', 'e0'))
    expect(tree.head).toBe('e2')
    expect(siblingsOf(tree, 'aside')).toEqual(['e1', 'aside'])
  })

  it('made of a part of a session knows its end of the path and who else is there', () => {
    fc.assert(
      fc.property(choices, fc.nat(), (shape, pick) => {
        const whole = grow(shape)
        const path = toArray(whole.path)
        const from = pick % path.length
        const beside = Object.fromEntries(
          path.map((e) => [
            e.parentId ?? '',
            toArray(whole.entries)
              .filter((x) => x.parentId === e.parentId)
              .map((x) => x.id)
          ])
        )
        const part = treeOf(path.slice(from), whole.head, beside)
        expect(toArray(part.path)).toEqual(path.slice(from))
        for (const e of path.slice(from)) expect(siblingsOf(part, e.id)).toEqual(siblingsOf(whole, e.id))
      })
    )
  })

  it('does not change when an entry comes twice; an unknown head has no path', () => {
    const tree = grow([0, 1])
    expect(addEntry(tree, entry('e1', 'e0'))).toBe(tree)
    expect(toArray(moveHead(tree, 'nobody').path)).toEqual([])
    expect(toArray(moveHead(tree, null).path)).toEqual([])
  })
})
