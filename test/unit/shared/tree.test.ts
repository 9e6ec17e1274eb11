import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toArray } from '../../../src/shared/list'
import type { Entry } from '../../../src/shared/session'
import { addEntry, emptyTree, entryOf, moveHead, newestLeaf, pathTo, siblingsOf, type Tree } from '../../../src/shared/tree'

const entry = (id: string, parentId: string | null): Entry => ({
  id,
  parentId,
  sessionId: 's',
  at: 0,
  type: 'message',
  message: { role: 'user', parts: [{ type: 'text', text: id }] }
})
/** Each number picks the parent of the next entry among those that exist; 0 is the root. */
const grow = (choices: readonly number[]): Tree =>
  choices.reduce(
    (tree, choice, i) => addEntry(tree, entry(`e${String(i)}`, choice % (i + 1) === 0 ? null : `e${String((choice % (i + 1)) - 1)}`)),
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
          expect(pathTo(tree, newestLeaf(tree, e.id)).map((x) => x.id)).toContain(e.id)
        }
      })
    )
  })

  it('leaves an older tree as it was when a newer one grows from it, also on two sides', () => {
    const old = grow([0, 1, 2])
    const left = addEntry(old, entry('left', 'e2'))
    const right = addEntry(old, entry('right', 'e2'))
    expect(toArray(old.path).map((e) => e.id)).toEqual(['e0', 'e1', 'e2'])
    expect(siblingsOf(left, 'left')).toEqual(['left'])
    expect(siblingsOf(right, 'right')).toEqual(['right'])
    expect(entryOf(old, 'left')).toBeUndefined()
    expect(newestLeaf(old, 'e0')).toBe('e2')
  })

  it('does not change when an entry comes twice or the head is unknown', () => {
    const tree = grow([0, 1])
    expect(addEntry(tree, entry('e1', 'e0'))).toBe(tree)
    expect(moveHead(tree, 'nobody')).toBe(tree)
    expect(toArray(moveHead(tree, null).path)).toEqual([])
  })
})
