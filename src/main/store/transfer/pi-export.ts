// A session as a Pi session file of version 3, with its whole tree (spec S2). Lines that came from such a file are written as they were; what Tau
// added follows. Pi takes the last line for the place where the conversation is, so the head stands there.
import { hash } from 'node:crypto'
import { isObject, type Json, parseJson } from '../../../shared/json'
import type { Message } from '../../../shared/message'
import type { Entry, Session } from '../../../shared/session'
import type { Store } from '../store'
import { isLegacy, newCompaction, versionOf } from './pi-import'
import { iso, lineOf } from './pi-line'
import { addMeta, emptyMeta, firstWords, HEAD, mayBeMeta, type Meta, SIDE, sideKey } from './pi-meta'

type Headed = Session & { readonly head: string | null }

/** What the imported file says; empty for a session that was made here. */
interface Source {
  readonly header: Json | undefined
  readonly lines: number
  /** Ids in the file, by our ids. */
  readonly foreign: ReadonlyMap<string, string>
  readonly taken: ReadonlySet<string>
  readonly meta: Meta
  /** The entry at the end of the file, or the parent of the marker there: where a reader of it would be. */
  readonly head: string | null
}

/** Pieces of the file, a line each. */
export function* exportPi(store: Store, session: Headed): Generator<string> {
  const { id: sessionId, head } = session
  const source = sourceOf(store, sessionId)
  const { foreign, header } = source
  const idOf = (id: string): string => foreign.get(id) ?? id
  const native = store.entries.count(sessionId) - foreign.size
  const beside = besideOf(store, session, source, idOf)
  const changed = native > 0 || beside.length > 0 || head !== source.head
  const old = header !== undefined && (isLegacy(header) || versionOf(header) < 3)
  let open = ''
  if (source.lines === 0) yield `${JSON.stringify(newHeader(session))}\n`
  for (const line of changed && old ? upgraded(store, session, idOf) : untouched(store, sessionId)) {
    yield line
    open = line.endsWith('\n') ? '' : '\n'
  }
  if (!changed) return

  const write = (value: Json): string => {
    const line = `${open}${JSON.stringify(value)}\n`
    open = ''
    return line
  }
  // the head's own entry closes the file where it can: nothing stands below it, and lines of the file stay in their order
  const closes = head !== null && !foreign.has(head) && store.entries.children(sessionId, head).length === 0
  const messageAt = messagesBefore(store, sessionId, foreign, closes ? head : undefined)
  /** The entry at the end of what is written so far; undefined for a line that is none of ours. */
  let last: string | null | undefined = source.head
  let closing: Entry | undefined
  let follows: string | null | undefined
  if (native > 0)
    for (const entry of store.entries.all(sessionId)) {
      if (foreign.has(entry.id)) continue
      if (closes && entry.id === head) {
        closing = entry
        follows = last
        continue
      }
      yield write(lineOf(entry, idOf, messageAt))
      last = entry.id
    }
  const parent = closing ? closing.parentId : head
  const node = { parentId: parent === null ? null : idOf(parent), timestamp: iso(session.updatedAt) }
  for (const line of beside) {
    yield write({ ...line, ...node })
    if (!closing) last = undefined
  }
  if (closing) yield write(moved(lineOf(closing, idOf, messageAt), last === follows ? undefined : follows && idOf(follows)))
  else if (last !== head)
    yield write({ type: 'custom', id: freshId(source, sessionId, HEAD, head ?? ''), ...node, customType: HEAD, data: {} })
}

/** The line of an entry that was stored before others in the file says which it followed (null: none), so that branches keep their order. */
const moved = (line: Json, follows: string | null | undefined): Json =>
  follows === undefined ? line : { ...line, tau: { ...(isObject(line['tau']) ? line['tau'] : {}), follows } }

function sourceOf(store: Store, sessionId: string): Source {
  const foreign = new Map<string, string>()
  const meta = emptyMeta()
  let header: Json | undefined
  let lines = 0
  let end: { readonly entryId: string; readonly line: string } | undefined
  for (const { line, entryId, foreignId } of store.imported.walk(sessionId)) {
    lines++
    header ??= objectIn(line)
    if (entryId === undefined || foreignId === undefined) continue
    foreign.set(entryId, foreignId)
    end = { entryId, line }
    const value = mayBeMeta(line) ? objectIn(line) : undefined
    if (value) addMeta(meta, value)
  }
  const marked = end !== undefined && objectIn(end.line)?.['customType'] === HEAD
  const head = end === undefined ? null : marked ? (store.entries.find(sessionId, end.entryId)?.parentId ?? null) : end.entryId
  return { header, lines, foreign, taken: new Set(foreign.values()), meta, head }
}

function objectIn(line: string): Json | undefined {
  const value = parseJson(line.replace(/^\uFEFF/, ''))
  return isObject(value) ? value : undefined
}

const newHeader = (session: Headed): Json => ({
  type: 'session',
  version: 3,
  id: session.id,
  timestamp: iso(session.createdAt),
  cwd: session.workspace
})

function* untouched(store: Store, sessionId: string): Generator<string> {
  for (const { line } of store.imported.walk(sessionId)) yield line
}

/** Lines of an older file as Pi itself would convert them: what is added stands on ids, which they do not have. */
function* upgraded(store: Store, session: Headed, idOf: (id: string) => string): Generator<string> {
  const ids: string[] = []
  let isFirst = true
  for (const { line, entryId } of store.imported.walk(session.id)) {
    const value = objectIn(line)
    const entry = entryId === undefined ? undefined : store.entries.find(session.id, entryId)
    if (isFirst && value) {
      isFirst = false
      if (isLegacy(value)) yield `${JSON.stringify(newHeader(session))}\n`
      else {
        yield `${JSON.stringify({ ...value, version: 3 })}\n`
        continue
      }
    }
    if (!value || !entry) {
      yield line
      continue
    }
    if (isLegacy(value)) yield `${JSON.stringify(lineOf(entry, idOf, () => undefined))}\n`
    else {
      const { message } = value
      const renamed = isObject(message) && message['role'] === 'hookMessage' ? { message: { ...message, role: 'custom' } } : {}
      const node = { id: idOf(entry.id), parentId: entry.parentId === null ? null : idOf(entry.parentId) }
      yield `${JSON.stringify({ ...newCompaction(value, (index) => ids[index - 1]), ...node, ...renamed })}\n`
    }
    ids.push(idOf(entry.id))
  }
}

/** Lines for what differs from the file and is no entry; their place is not set yet. */
function besideOf(store: Store, session: Headed, source: Source, idOf: (id: string) => string): Json[] {
  const { id: sessionId, title } = session
  const { meta, foreign, lines } = source
  const beside: Json[] = []
  const labels = store.sessions.labels(sessionId)
  for (const [entryId, label] of Object.entries(labels)) {
    const targetId = idOf(entryId)
    if (meta.labels.get(targetId) !== label)
      beside.push({ type: 'label', id: freshId(source, sessionId, 'label', targetId, label), targetId, label })
  }
  for (const [entryId, targetId] of meta.labels.size > 0 ? foreign : [])
    if (meta.labels.has(targetId) && labels[entryId] === undefined)
      beside.push({ type: 'label', id: freshId(source, sessionId, 'label', targetId), targetId })
  for (const { id, from, home, ...rest } of store.sides.all(sessionId)) {
    const side = { ...rest, from: from === null ? null : idOf(from), home: home === null ? null : idOf(home) }
    const known = meta.sides.get(sideKey(side))
    if (known && known.ending === side.ending) continue
    beside.push({ type: 'custom', id: freshId(source, sessionId, SIDE, id, side.ending ?? ''), customType: SIDE, data: side })
  }
  const given = meta.name || (lines === 0 ? '' : firstWords(store.entries.all(sessionId)))
  if (title !== given) beside.push({ type: 'session_info', id: freshId(source, sessionId, 'name', title), name: title })
  return beside
}

/** Messages by their ids in the file, as one who reads it from the start would know them; `after` stands at its end. */
function messagesBefore(
  store: Store,
  sessionId: string,
  foreign: ReadonlyMap<string, string>,
  after: string | undefined
): (id: string) => Message | undefined {
  let ours: Map<string, string> | undefined
  return (id) => {
    ours ??= new Map([...foreign].map(([entryId, foreignId]) => [foreignId, entryId]))
    const entryId = ours.get(id) ?? id
    const entry = entryId === after ? undefined : store.entries.find(sessionId, entryId)
    return entry?.type === 'message' ? entry.message : undefined
  }
}

/** Eight hex digits like Pi's own, the same for the same thing, so that a session exported twice gives the same file. */
function freshId({ taken }: Source, ...of: readonly string[]): string {
  for (let n = 0; ; n++) {
    const id = hash('sha256', [String(n), ...of].join('\n')).slice(0, 8)
    if (!taken.has(id)) return id
  }
}
