// What tests of import and export share: a store in a fresh folder, and trees of every shape and kind of entry.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { newId } from '../../../../src/main/store/id'
import { openStore, type Store } from '../../../../src/main/store/store'
import { type ExportFormat, exportSession, importSession } from '../../../../src/main/store/transfer'
import type { Imported } from '../../../../src/main/store/transfer/imported'
import type { AssistantMessage, Message, ToolMessage, UserMessage } from '../../../../src/shared/message'
import type { Entry, SideEnding } from '../../../../src/shared/session'
import { freshFolder } from '../../../support/harness'

const stores: Store[] = []
export const opened = (): Store => {
  const store = openStore(freshFolder(), 'test')
  stores.push(store)
  return store
}
export const closeAll = (): void => {
  for (const s of stores.splice(0)) s.close()
}
export const options = { fallbackWorkspace: '/w', model: 'm', at: 5 }
export const example = readFileSync(join(process.cwd(), 'test/fixtures/pi/session.jsonl'), 'utf8')

export function imported(store: Store, text: string): Imported {
  const made = importSession(store, text, options)
  if (!made.ok) throw new Error(made.message)
  return made
}
export const exported = (store: Store, id: string, format: ExportFormat = 'pi'): string =>
  [...(exportSession(store, id, format) ?? [])].join('')
export const headOf = (store: Store, id: string): string | null => store.sessions.find(id)?.head ?? null
export const path = (store: Store, id: string): Entry[] => [...store.entries.up(id, headOf(store, id))].reverse()
export const linesOf = (text: string): Record<string, unknown>[] =>
  text
    .trim()
    .split('\n')
    .map((l) => JSON.parse(l) as Record<string, unknown>)

/** An empty session of Tau. */
export const madeHere = (store: Store, title = 'T'): string =>
  imported(store, JSON.stringify({ tau: 1, session: { title, model: 'm', workspace: '/w' }, head: null, labels: {}, entries: [] })).session
    .id

/** Adds a message below `parentId` and returns its id. */
export function say(store: Store, sessionId: string, parentId: string | null, message: Message | string): string {
  const id = newId()
  const whole: Message = typeof message === 'string' ? { role: 'user', parts: [{ type: 'text', text: message }] } : message
  store.entries.add({ id, sessionId, parentId, at: 9, type: 'message', message: whole })
  return id
}

const words = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('a\u0000b', 'half \ud83d', '\udc00 other half', '👨‍👩‍👧 مرحبا é', '\u202etxt.exe', '\u2028\r\n', '"\\', '`````', '<!--')
)
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined })
const present = <T extends object>(value: T): T => Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as T
const count = fc.nat({ max: 100_000 })

const user: fc.Arbitrary<UserMessage> = fc
  .record({
    parts: fc.array(
      fc.oneof(
        words.map((text) => ({ type: 'text' as const, text })),
        words.map((data) => ({ type: 'image' as const, mime: 'image/png', data }))
      ),
      { maxLength: 3 }
    ),
    said: optional(fc.record({ kind: fc.constantFrom('steer', 'follow-up', 'interrupt'), at: count, turn: count }))
  })
  .map((m) => present({ role: 'user', ...m }))
const assistant: fc.Arbitrary<AssistantMessage> = fc
  .record({
    model: fc.oneof(fc.constantFrom('ollama:q:8b', 'tau:x', ':x', '', 'plain', 'a:'), words),
    stopReason: fc.constantFrom('stop', 'calls', 'length', 'aborted', 'error', 'interrupted'),
    parts: fc.array(
      fc.oneof(
        words.map((text) => ({ type: 'text' as const, text })),
        words.map((text) => ({ type: 'thinking' as const, text })),
        fc.record({
          type: fc.constant('call' as const),
          id: fc.constantFrom('c1', 'c2'),
          name: words,
          arguments: fc.oneof(fc.constantFrom('{"a":1}', '{ "a" : 1 }', '', '[1]', '{"cut'), words)
        })
      ),
      { maxLength: 3 }
    ),
    usage: optional(
      fc
        .record({ inputTokens: optional(count), outputTokens: optional(count), loadMs: optional(count), cost: optional(count) })
        .map(present)
    ),
    error: optional(fc.record({ code: fc.constantFrom('aborted', 'refused', 'imported'), message: words }))
  })
  .map((m) => present({ role: 'assistant', ...m }))
const tool: fc.Arbitrary<ToolMessage> = fc.record({
  role: fc.constant('tool'),
  callId: fc.constantFrom('c1', 'c2'),
  name: words,
  code: fc.constantFrom('ok', 'denied', 'error', 'limit'),
  text: words,
  durationMs: count
})
const message: fc.Arbitrary<Message> = fc.oneof(user, assistant, tool)

type Fields<T> = T extends Entry ? Omit<T, 'id' | 'sessionId' | 'parentId' | 'at'> : never
/** Pointers to other entries are numbers until the tree is grown. */
const fields: fc.Arbitrary<{ entry: Fields<Entry>; pointer: number }> = fc.record({
  pointer: fc.nat(),
  entry: fc.oneof(
    { weight: 6, arbitrary: message.map((m): Fields<Entry> => ({ type: 'message', message: m })) },
    { weight: 1, arbitrary: words.map((summary): Fields<Entry> => ({ type: 'compaction', summary, keepsFrom: null })) },
    {
      weight: 1,
      arbitrary: fc
        .record({ summary: words, model: fc.constantFrom('', 'm'), read: fc.array(words, { maxLength: 2 }) })
        .map(({ summary, model, read }): Fields<Entry> => ({
          type: 'branch_summary',
          summary,
          from: '',
          model,
          files: { read, changed: [] }
        }))
    },
    { weight: 1, arbitrary: fc.option(message).map((m): Fields<Entry> => ({ type: 'edit', targetId: '', message: m })) },
    { weight: 1, arbitrary: words.map((model): Fields<Entry> => ({ type: 'model_change', model })) },
    { weight: 1, arbitrary: words.map((what): Fields<Entry> => ({ type: 'imported', what })) }
  )
})
interface Shape {
  readonly title: string
  /** Each `parent` picks among the entries before. */
  readonly nodes: readonly { parent: number; content: { entry: Fields<Entry>; pointer: number } }[]
  readonly head: number
  readonly labels: readonly { on: number; label: string }[]
  readonly sides: readonly { from: number; home: number; name: string; ending: SideEnding | undefined }[]
}
export const shape: fc.Arbitrary<Shape> = fc.record({
  title: words,
  nodes: fc.array(fc.record({ parent: fc.nat(), content: fields }), { maxLength: 16 }),
  head: fc.nat(),
  labels: fc.array(fc.record({ on: fc.nat(), label: words.filter((w) => w !== '') }), { maxLength: 3 }),
  sides: fc.array(
    fc.record({ from: fc.nat(), home: fc.nat(), name: words, ending: optional(fc.constantFrom('discard', 'keep', 'summary', 'insert')) }),
    { maxLength: 2 }
  )
})

/** A session of that shape. Parents lean to the newest entry, as conversations do. */
export function grow(store: Store, { title, nodes, head, labels, sides }: Shape, into = madeHere(store, title)): string {
  const ids: string[] = [...store.entries.all(into)].map((e) => e.id)
  const pick = (n: number): string | null => (n % (ids.length + 1) === 0 ? null : (ids[(n % (ids.length + 1)) - 1] ?? null))
  for (const { parent, content } of nodes) {
    const parentId = parent % 3 === 0 ? pick(parent) : (ids.at(-1) ?? null)
    const target = pick(content.pointer) ?? 'elsewhere'
    const { entry } = content
    const id = newId()
    const base = { id, sessionId: into, parentId, at: 1_700_000_000_000 + ids.length }
    if (entry.type === 'compaction') store.entries.add({ ...base, ...entry, keepsFrom: pick(content.pointer) })
    else if (entry.type === 'branch_summary') store.entries.add({ ...base, ...entry, from: target })
    else if (entry.type === 'edit') store.entries.add({ ...base, ...entry, targetId: target })
    else store.entries.add({ ...base, ...entry })
    ids.push(id)
  }
  store.sessions.setHead(into, pick(head))
  for (const { on, label } of labels) {
    const target = pick(on)
    if (target !== null) store.sessions.setLabel(into, target, label, 1)
  }
  for (const { from, home, name, ending } of sides) {
    const id = newId()
    store.sides.begin(into, { id, from: pick(from), home: pick(home), name, startedAt: store.sides.all(into).length })
    if (ending) store.sides.end(id, ending, 9)
  }
  return into
}

/** Everything of a session but its ids: entries by their place. `skip`: entries that only a file's form needs. */
export function plain(store: Store, id: string, skip: (e: Entry) => boolean = () => false): unknown {
  const entries = [...store.entries.all(id)].filter((e) => !skip(e))
  const place = new Map<string | null, number | null | string>(entries.map((e, i) => [e.id, i]))
  place.set(null, null)
  const at = (entryId: string | null): unknown => place.get(entryId) ?? (entryId === null ? null : 'elsewhere')
  return {
    entries: entries.map(({ id: own, sessionId, parentId, ...rest }) => ({
      ...rest,
      parentId: at(parentId),
      ...('keepsFrom' in rest && { keepsFrom: at(rest.keepsFrom) }),
      ...('from' in rest && { from: at(rest.from) }),
      ...('targetId' in rest && { targetId: at(rest.targetId) })
    })),
    head: at(headOf(store, id)),
    labels: Object.entries(store.sessions.labels(id))
      .map(([e, label]) => [at(e), label])
      .sort(),
    sides: store.sides
      .all(id)
      .map(({ id: own, from, home, ...rest }) => ({ ...rest, from: at(from), home: at(home) }))
      .sort((a, b) => a.startedAt - b.startedAt)
  }
}
