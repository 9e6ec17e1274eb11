// Any session goes out and comes back: every entry, branch, label, side branch and odd character, and the head where it was.
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import type { Entry } from '../../../../src/shared/session'
import { closeAll, example, exported, grow, imported, linesOf, opened, plain, shape } from './support'

afterEach(closeAll)

/** Lines that a Pi file needs beside the entries come back as entries that mean nothing. */
const isForm = (e: Entry): boolean => e.type === 'imported' && ['label', 'session_info', 'custom'].includes(e.what)

describe('a session of Tau', () => {
  it('comes back from its JSON as it was, and goes out again the same', () => {
    fc.assert(
      fc.property(shape, (s) => {
        const store = opened()
        const id = grow(store, s)
        const text = exported(store, id, 'json')
        const again = imported(store, text)
        expect(again.bad).toEqual([])
        expect(plain(store, again.session.id)).toEqual(plain(store, id))
        expect(nameless(exported(store, again.session.id, 'json'))).toEqual(nameless(text))
        closeAll()
      }),
      { numRuns: 60 }
    )
  })

  it('comes back from a Pi file as it was, and that file goes out again byte for byte', () => {
    fc.assert(
      fc.property(shape, (s) => {
        const store = opened()
        const id = grow(store, s)
        const text = exported(store, id)
        const again = imported(store, text)
        expect(again.bad).toEqual([])
        expect(plain(store, again.session.id, isForm)).toEqual(plain(store, id, isForm))
        expect(exported(store, again.session.id)).toBe(text)
        closeAll()
      }),
      { numRuns: 60 }
    )
  })

  it('that came from Pi and grew keeps every line of its file, with ids that none has twice', () => {
    fc.assert(
      fc.property(shape, (s) => {
        const store = opened()
        const id = grow(store, s, imported(store, example).session.id)
        const text = exported(store, id)
        expect(text.startsWith(example)).toBe(true)
        const ids = linesOf(text).map((l) => l['id'])
        expect(new Set(ids).size).toBe(ids.length)
        const again = imported(store, text)
        expect(again.bad).toEqual([])
        expect((plain(store, again.session.id, isForm) as { head: unknown }).head).toEqual(
          (plain(store, id, isForm) as { head: unknown }).head
        )
        expect(exported(store, again.session.id)).toBe(text)
        closeAll()
      }),
      { numRuns: 40 }
    )
  })

  it('takes the way from Pi to Tau’s JSON and back to Pi without losing a byte', () => {
    const store = opened()
    const json = exported(store, imported(store, example).session.id, 'json')
    expect(exported(opened(), imported(store, json).session.id)).toBe('')
    expect(exported(store, imported(store, json).session.id)).toBe(example)
  })

  it('of 20,000 entries goes both ways', () => {
    const store = opened()
    const lines = ['{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/x"}']
    for (let i = 0; i < 20_000; i++) {
      const parent = i === 0 ? null : `e${String(i % 97 === 0 ? Math.floor(i / 2) : i - 1)}`
      const message =
        i % 2 === 0
          ? { role: 'user', content: `q ${String(i)}` }
          : { role: 'assistant', content: [{ type: 'text', text: `a ${String(i)}` }] }
      lines.push(JSON.stringify({ type: 'message', id: `e${String(i)}`, parentId: parent, timestamp: '2026-01-01T00:00:00Z', message }))
    }
    const text = `${lines.join('\n')}\n`
    const made = imported(store, text)
    expect([made.entries, made.bad]).toEqual([20_000, []])
    expect(exported(store, made.session.id)).toBe(text)
    const again = imported(store, exported(store, made.session.id, 'json'))
    expect(again.entries).toBe(20_000)
    expect(exported(store, again.session.id)).toBe(text)
    expect(exported(store, made.session.id, 'markdown')).toContain('## Branch 200, from')
  })
})

/** A document without ids, which an import makes anew, and its times. */
function nameless(text: string): unknown {
  const seen = new Map<string, string>()
  const plainText = text.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => {
    if (!seen.has(id)) seen.set(id, `id-${String(seen.size)}`)
    return seen.get(id) ?? ''
  })
  const { session, labels, sides, ...rest } = JSON.parse(plainText) as { session: object; labels: object; sides: { startedAt: number }[] }
  return { ...rest, session: { ...session, createdAt: 0, updatedAt: 0 }, labels: Object.values(labels).sort(), sides: sides.length }
}
