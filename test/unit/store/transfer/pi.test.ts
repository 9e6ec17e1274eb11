import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { contextAt } from '../../../src/main/session/context/context'
import { newId } from '../../../src/main/store/id'
import { openStore, type Store } from '../../../src/main/store/store'
import { exportSession, fileNameFor, importSession } from '../../../src/main/store/transfer'
import type { Imported } from '../../../src/main/store/transfer/imported'
import { type Message, textOf } from '../../../src/shared/message'
import type { Entry } from '../../../src/shared/session'
import { freshFolder } from '../../support/harness'

const stores: Store[] = []
const opened = (): Store => {
  const store = openStore(freshFolder(), 'test')
  stores.push(store)
  return store
}
afterEach(() => {
  for (const s of stores.splice(0)) s.close()
})
const options = { fallbackWorkspace: '/w', model: 'm', at: 5 }
function imported(store: Store, text: string): Imported {
  const made = importSession(store, text, options)
  if (!made.ok) throw new Error(made.message)
  return made
}
const exported = (store: Store, id: string, format: 'pi' | 'json' | 'markdown' = 'pi'): string =>
  [...(exportSession(store, id, format) ?? [])].join('')
const example = readFileSync(join(process.cwd(), 'test/fixtures/pi/session.jsonl'), 'utf8')
const linesOf = (text: string): Record<string, unknown>[] =>
  text
    .trim()
    .split('\n')
    .map((l) => JSON.parse(l) as Record<string, unknown>)
const path = (store: Store, id: string): Entry[] => [...store.entries.up(id, store.sessions.find(id)?.head ?? null)].reverse()

describe('a session file of Pi', () => {
  it('comes in whole: name, label, every branch, the place where it was, and the context that Pi would send', () => {
    const store = opened()
    const { session, entries, bad } = imported(store, example)
    expect({ entries, bad }).toEqual({ entries: 24, bad: [] })
    expect(session).toMatchObject({ title: 'Greenhouse nights', workspace: '/demo/greenhouse' })
    expect(Object.values(store.sessions.labels(session.id))).toEqual(['night answer'])
    expect(path(store, session.id).at(-1)).toMatchObject({ type: 'message', message: { parts: [{ text: 'Thanks.' }] } })
    const frame = { system: '', tools: [], window: 100_000, vision: false }
    const { messages } = contextAt(frame, store.entries.up(session.id, store.sessions.find(session.id)?.head ?? null)).request()
    expect(messages.map((m) => [m.role, textOf(m).slice(0, 12)])).toEqual([
      ['user', 'Summary of t'], // and the person's words after it, as turns alternate
      ['assistant', '12.6 degrees'],
      ['user', 'Ran `uptime`']
    ])
    expect(textOf(messages[0] as Message)).toContain('And the mean?')
    expect(textOf(messages[2] as Message)).toContain('Thanks.')
  })

  it('goes out byte for byte as it came in, also without a last line end, and with lines that nobody can read', () => {
    for (const text of [
      example,
      example.trimEnd(),
      `${example}{"type":"future","id":"f1","parentId":null,"x":[1]}\n{"cut`,
      example.replaceAll('\n', '\r\n')
    ]) {
      const store = opened()
      expect(exported(store, imported(store, text).session.id)).toBe(text)
    }
  })

  it('keeps its lines when the session grew, and the head is the last line', () => {
    const store = opened()
    const { session } = imported(store, example)
    const head = store.sessions.find(session.id)?.head ?? null
    const id = newId()
    store.entries.add({
      id,
      sessionId: session.id,
      parentId: head,
      at: 9,
      type: 'message',
      message: { role: 'user', parts: [{ type: 'text', text: 'More' }] }
    })
    const text = exported(store, session.id)
    expect(text.startsWith(example)).toBe(true)
    expect(linesOf(text).at(-1)).toMatchObject({
      type: 'message',
      id,
      parentId: 'a0000018',
      message: { role: 'user', content: [{ text: 'More' }] }
    })
    const [first] = path(store, session.id)
    store.sessions.setHead(session.id, first?.id ?? null)
    expect(linesOf(exported(store, session.id)).at(-1)).toMatchObject({ type: 'custom', customType: 'tau.head', parentId: 'a0000001' })
  })

  it('whose last line is cut gives what was whole, and says which line was not', () => {
    const store = opened()
    const made = imported(store, '{"id":"u1","text":"one"}\n{"id":"a1","te')
    expect(made.bad).toEqual([{ line: 2, why: 'the line is cut' }])
    expect(path(store, made.session.id)).toMatchObject([{ message: { role: 'user', parts: [{ text: 'one' }] } }])
  })

  it('with a missing parent or an id twice loses nothing that can be read', () => {
    const store = opened()
    const header = '{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/x"}\n'
    const line = (id: string, parentId: string | null, text: string): string =>
      `${JSON.stringify({ type: 'message', id, parentId, timestamp: '2026-01-01T00:00:00Z', message: { role: 'user', content: text } })}\n`
    const made = imported(
      store,
      header + line('a', null, 'one') + line('b', 'gone', 'two') + line('a', null, 'again') + line('c', 'b', 'three')
    )
    expect(path(store, made.session.id).map((e) => (e.type === 'message' ? textOf(e.message) : ''))).toEqual(['one', 'two', 'three'])
    expect(made.bad.map((b) => b.line)).toEqual([3, 4])
  })

  it.each(['', 'hello', '{"a":1}', '[]', '\u0000\u0000', '{"tau":1}', '{"tau":2,"entries":[]}'])(
    'is not taken for one when it is none: %j',
    (text) => {
      const store = opened()
      expect(importSession(store, text, options)).toMatchObject({ ok: false, code: 'not_a_session' })
      expect(store.sessions.list('open')).toEqual([])
    }
  )

  it('of versions 1 and 2 is read as Pi reads it', () => {
    const store = opened()
    const one = [
      '{"type":"session","id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/x"}',
      '{"type":"message","timestamp":"2026-01-01T00:00:01Z","message":{"role":"user","content":"first"}}',
      '{"type":"message","timestamp":"2026-01-01T00:00:02Z","message":{"role":"hookMessage","content":"hooked"}}',
      '{"type":"compaction","timestamp":"2026-01-01T00:00:03Z","summary":"S","firstKeptEntryIndex":2}'
    ].join('\n')
    const made = imported(store, one)
    const entries = path(store, made.session.id)
    expect(entries.map((e) => (e.type === 'message' ? textOf(e.message) : e.type))).toEqual(['first', 'hooked', 'compaction'])
    expect(entries[2]).toMatchObject({ keepsFrom: entries[1]?.id })
  })
})

const words = fc.string({ unit: 'binary', maxLength: 40 })
const message: fc.Arbitrary<Message> = fc.oneof(
  words.map((text): Message => ({ role: 'user', parts: [{ type: 'text', text }] })),
  fc.record({ text: words, raw: fc.oneof(fc.constant('{"a":1}'), words) }).map(({ text, raw }): Message => ({
    role: 'assistant',
    model: 'ollama:q:8b',
    stopReason: 'calls',
    parts: [
      { type: 'thinking', text },
      { type: 'text', text },
      { type: 'call', id: 'c', name: 't', arguments: raw }
    ]
  })),
  words.map((text): Message => ({ role: 'tool', callId: 'c', name: 't', code: 'denied', text, durationMs: 3 }))
)
/** Each number picks the parent of an entry among those before it. */
const tree = fc.array(fc.tuple(fc.nat(), message), { minLength: 1, maxLength: 25 })

describe('a session of Tau', () => {
  function grown(shape: [number, Message][]): { store: Store; id: string } {
    const store = opened()
    const made = imported(store, '{"tau":1,"session":{"title":"T","model":"m","workspace":"/w"},"head":null,"labels":{},"entries":[]}')
    const { id } = made.session
    const ids: string[] = []
    for (const [pick, m] of shape) {
      const parentId = pick % (ids.length + 1) === 0 ? null : (ids[(pick % (ids.length + 1)) - 1] ?? null)
      ids.push(newId())
      store.entries.add({ id: ids.at(-1) ?? '', sessionId: id, parentId, at: 7, type: 'message', message: m })
    }
    store.sessions.setHead(id, ids[shape.length >> 1] ?? null)
    store.sessions.setLabel(id, ids[0] ?? '', 'begin', 1)
    return { store, id }
  }
  /** A tree as plain data, whatever its ids. */
  function shapeOf(store: Store, id: string): unknown {
    const entries = [...store.entries.all(id)].filter((e) => e.type === 'message')
    const place = new Map(entries.map((e, i) => [e.id, i]))
    const label = Object.entries(store.sessions.labels(id)).map(([e, l]) => [place.get(e), l])
    return [entries.map((e) => [e.parentId === null ? -1 : place.get(e.parentId), e.message]), label]
  }

  it('comes back from its JSON as it was', () => {
    fc.assert(
      fc.property(tree, (shape) => {
        const { store, id } = grown(shape)
        const again = imported(store, exported(store, id, 'json'))
        expect(again.bad).toEqual([])
        expect(shapeOf(store, again.session.id)).toEqual(shapeOf(store, id))
        for (const s of stores.splice(0)) s.close()
      }),
      { numRuns: 30 }
    )
  })

  it('comes back from a Pi file with every branch, and that file is stable', () => {
    fc.assert(
      fc.property(tree, (shape) => {
        const { store, id } = grown(shape)
        const text = exported(store, id)
        const again = imported(store, text)
        expect(again.bad).toEqual([])
        const [entries, label] = shapeOf(store, again.session.id) as [[number, Message][], unknown]
        const [before, labels] = shapeOf(store, id) as [[number, Message][], unknown]
        expect(label).toEqual(labels)
        expect(entries.map(([p, m]) => [p, m.role, textOf(m)])).toEqual(before.map(([p, m]) => [p, m.role, textOf(m)]))
        expect(exported(store, again.session.id)).toBe(text)
        for (const s of stores.splice(0)) s.close()
      }),
      { numRuns: 30 }
    )
  })

  it('is readable as Markdown, and nothing in it breaks out of its place', () => {
    const { store, id } = grown([
      [0, { role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
      [1, { role: 'tool', callId: 'c', name: '# <b>x</b>', code: 'ok', text: 'a\n````\n# not a heading\n```', durationMs: 1 }],
      [1, { role: 'user', parts: [{ type: 'text', text: 'Other way' }] }]
    ])
    const text = exported(store, id, 'markdown')
    expect(text).toContain('`````\na\n````\n# not a heading\n```\n`````')
    expect(text).toContain('\\# \\<b\\>x\\</b\\>')
    expect(text).toMatch(/## Branch 1, from 1\n\n### 1\.1\. Person\n\nOther way/)
    expect(text).toContain('### 1. Person — begin')
  })
})

describe('the name of an exported file', () => {
  it.each([
    ['a/b\\c:*?"<>|\u202e.txt', 'a-b-c-.txt.md'],
    ['', 'session.md'],
    ['...', 'session.md'],
    ['CON', 'session-CON.md'],
    ['nul.txt', 'session-nul.txt.md'],
    ['温室 nights', '温室 nights.md'],
    ['half \ud83d', 'half.md']
  ])('%j is safe', (title, name) => {
    expect(fileNameFor(title, 'md')).toBe(name)
  })
  it('fits every file system, whatever the title', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (title) => {
        const name = fileNameFor(title, 'jsonl')
        expect(Buffer.byteLength(name)).toBeLessThan(255)
        expect(name).toMatch(/^[^/\\:*?"<>|\p{Cc}]+\.jsonl$/u)
      })
    )
  })
})
