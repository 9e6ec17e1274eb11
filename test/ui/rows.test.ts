import { describe, expect, it } from 'vitest'
import { addEntry, emptyTree, moveHead, type Tree } from '../../src/shared/tree'
import { RowMaker } from '../../src/renderer/src/views/conversation/rows'
import { answer, entry, user } from './support'

const grow = (tree: Tree, message: Parameters<typeof entry>[0], id?: string): Tree => addEntry(tree, entry(message, tree.head, id))
const turns = (count: number): Tree => {
  let tree = emptyTree()
  for (let i = 0; i < count; i++) tree = grow(grow(tree, user(`q${String(i)}`)), answer(`a${String(i)}`))
  return tree
}

describe('rows of a conversation', () => {
  it('gathers results at the answer that asked for them', () => {
    let tree = grow(emptyTree(), user('q'))
    tree = grow(tree, answer('', { parts: [{ type: 'call', id: 'c1', name: 'read', arguments: '{}' }], stopReason: 'calls' }), 'asks')
    tree = grow(tree, { role: 'tool', callId: 'c1', name: 'read', code: 'ok', text: 'words', durationMs: 1 })
    const { tail } = new RowMaker().update(tree)
    expect(tail.map((r) => r.kind)).toEqual(['user', 'answer'])
    expect(tail[1]).toMatchObject({ id: 'asks' })
    expect(tail[1]?.kind === 'answer' && tail[1].results.get('c1')?.text).toBe('words')
  })

  it('keeps the list and the rows that did not change as they are', () => {
    const maker = new RowMaker()
    const tree = turns(500)
    const before = maker.update(tree)
    const after = maker.update(grow(tree, user('next')))
    expect(before.listed.length + before.tail.length).toBe(1_000)
    expect(after.listed).toBe(before.listed)
    expect(after.tail.slice(0, -1).every((row, i) => row === before.tail[i])).toBe(true)
  })

  it('moves rows into the list before the tail grows long, losing none', () => {
    const maker = new RowMaker()
    let tree = emptyTree()
    for (let i = 0; i < 200; i++) {
      tree = grow(tree, user(String(i)))
      const { listed, tail } = maker.update(tree)
      expect(tail.length).toBeLessThanOrEqual(36)
      expect([...listed, ...tail].map((r) => r.id)).toEqual(tree.path.items.slice(0, tree.path.length).map((e) => e.id))
    }
  })

  it('draws another branch from its own path', () => {
    const maker = new RowMaker()
    const tree = turns(3)
    maker.update(tree)
    const root = tree.path.items[1]?.id ?? ''
    expect(maker.update(moveHead(tree, root)).tail).toHaveLength(2)
  })
})
