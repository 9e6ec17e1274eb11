// Tau's own document: recognised however it is laid out, and whatever is wrong in it costs no more than itself.
import { afterEach, describe, expect, it } from 'vitest'
import { importSession } from '../../../../src/main/store/transfer'
import { closeAll, exported, imported, madeHere, opened, options, path, say } from './support'

afterEach(closeAll)

const node = (id: string, parentId: string | null): object => ({
  id,
  parentId,
  at: 1,
  type: 'message',
  message: { role: 'user', parts: [{ type: 'text', text: id }] }
})
const document = (entries: object[], more: object = {}): object => ({
  tau: 1,
  session: { title: 'T', model: 'm', workspace: '/w' },
  head: null,
  labels: {},
  entries,
  ...more
})

describe('a document of Tau', () => {
  it.each([
    ['on one line', (d: object) => JSON.stringify(d)],
    ['over many lines', (d: object) => JSON.stringify(d, null, 2)],
    [
      'with its keys in another order and a byte order mark',
      (d: object) => `\ufeff${JSON.stringify(Object.fromEntries(Object.entries(d).reverse()), null, 1)}`
    ]
  ])('is known %s', (_what, write) => {
    expect(imported(opened(), write(document([node('a', null)])))).toMatchObject({ entries: 1, bad: [] })
  })

  it('that is cut says so, and nothing of it is stored', () => {
    const store = opened()
    const id = madeHere(store)
    say(store, id, null, 'x')
    const text = exported(store, id, 'json')
    for (const end of [text.length - 5, 40, 9]) {
      expect(importSession(store, text.slice(0, end), options)).toMatchObject({
        ok: false,
        message: expect.stringContaining('cut or damaged') as string
      })
    }
    expect(store.sessions.list('open')).toHaveLength(1)
  })

  it('loses no entry that can be read: a missing parent, an id twice, a line that is none', () => {
    const store = opened()
    const made = imported(
      store,
      JSON.stringify(document([node('a', null), node('b', 'gone'), node('a', null), { id: 'x' }, node('c', 'b')], { head: 'c' }))
    )
    expect(made.entries).toBe(3)
    expect(made.bad.map((b) => b.line)).toEqual([2, 3, 4])
    expect(path(store, made.session.id)).toMatchObject(['a', 'b', 'c'].map((text) => ({ message: { parts: [{ text }] } })))
  })

  it('with times and lines that nobody could have written is taken without them', () => {
    const store = opened()
    const lines = [
      { n: 1, line: '{"type":"session"}' },
      { n: 1, line: 'twice' },
      { n: 2, line: 'a', entryId: 'a', foreignId: 'x' },
      { n: 3, line: 'b', entryId: 'a', foreignId: 'y' }
    ]
    const made = imported(store, JSON.stringify(document([{ ...node('a', null), at: 9_007_199_254_740_991 }], { lines })))
    expect(path(store, made.session.id)).toMatchObject([])
    expect([...store.entries.all(made.session.id)]).toMatchObject([{ at: options.at }])
    expect(store.imported.all(made.session.id).map((l) => l.n)).toEqual([1, 2])
    expect(exported(store, made.session.id, 'markdown')).toContain('# T')
  })
})
