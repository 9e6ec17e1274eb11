// A Pi session file becomes a session (spec S2). The file is read only; every line is kept as it is, so that an export gives back the same bytes
// where nothing has changed. A line that cannot be read is reported by its number and hides nothing.
import { isObject, type Json, parseJson } from '../../../shared/json'
import type { Message } from '../../../shared/message'
import type { Entry } from '../../../shared/session'
import { repointed } from '../../../shared/tree'
import { newId } from '../id'
import type { Store } from '../store'
import { type BadLine, type Imported, type ImportOptions, newSession, type NotASession } from './imported'
import { patched } from './patch'
import { addMeta, emptyMeta, firstWords, HEAD, isTime, type Meta } from './pi-meta'
import { type Content, contentOf } from './pi-read'

interface Line {
  readonly n: number
  readonly raw: string
  readonly value: Json | undefined
}
interface Node {
  /** Number of its line. */
  readonly n: number
  readonly value: Json
  readonly foreignId: string
  /** Made in the order in which they are stored. */
  readonly id: string
  readonly content: Content
}
type Unnamed = Omit<Node, 'id'>

export function importPi(store: Store, text: string, options: ImportOptions): Imported | NotASession {
  const lines = linesOf(text)
  const header = lines.find((l) => l.value !== undefined)?.value
  if (header === undefined || (header['type'] !== 'session' && !isLegacy(header))) {
    return {
      ok: false,
      code: 'not_a_session',
      message: 'This is no session file: it does not begin with the header of a Pi session, and is no export of Tau.'
    }
  }
  const bad: BadLine[] = []
  const nodes = nodesOf(lines, header, bad)
  const ids = new Map(nodes.map((node) => [node.foreignId, node.id]))
  const meta = emptyMeta()
  for (const { value } of nodes) addMeta(meta, value)
  const folder = typeof header['cwd'] === 'string' && header['cwd'] !== '' ? header['cwd'] : undefined
  const workspace = options.workspace ?? folder
  const title = meta.name || firstWords(nodes.map((n) => n.content))
  const session = newSession({ ...options, ...(workspace !== undefined && { workspace }) }, title)
  store.write(() => {
    store.sessions.insert(session)
    store.events.append(session.id, 1, session.createdAt, { type: 'session', session })
    let before: Entry | undefined
    const parents = new Map<string, string | null>()
    for (const node of nodes) {
      before = place(node, before, ids, session, bad)
      parents.set(node.id, before.parentId)
      store.entries.add(before)
    }
    store.sessions.setHead(session.id, headOf(nodes, parents))
    addBeside(store, session.id, meta, ids, options.at)
    const byLine = new Map(nodes.map((node) => [node.n, node]))
    for (const { n, raw } of lines) {
      const node = byLine.get(n)
      store.imported.add(session.id, { n, line: raw, entryId: node?.id, foreignId: node?.foreignId })
    }
    store.sessions.touch(session.id, session.updatedAt)
  })
  return { ok: true, session, entries: nodes.length, bad: bad.sort((a, b) => a.line - b.line) }
}

/** With their ends, so that the file is the lines put together. */
function linesOf(text: string): Line[] {
  const raw = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
  return raw.map((line, i) => {
    const value = line.trim() === '' ? undefined : parseJson(line.replace(/^\uFEFF/, ''))
    return { n: i + 1, raw: line, value: isObject(value) ? value : undefined }
  })
}

/** A plain log, older than session files: `{"id":"u1","text":"one"}`. */
export const isLegacy = (line: Json): boolean => line['type'] === undefined && typeof line['text'] === 'string'
export const versionOf = (header: Json): number => (typeof header['version'] === 'number' ? header['version'] : 1)

function nodesOf(lines: readonly Line[], header: Json, bad: BadLine[]): Node[] {
  const legacy = isLegacy(header)
  const version = versionOf(header)
  const nodes: Unnamed[] = []
  const messages = new Map<string, Message>()
  const seen = new Set<string>()
  for (const { value, n, raw } of lines) {
    if (value === undefined) {
      if (raw.trim() !== '') bad.push({ line: n, why: n === lines.length ? 'the line is cut' : 'the line is no JSON object' })
      continue
    }
    if (value['type'] === 'session') continue
    if (legacy && typeof value['text'] !== 'string') {
      bad.push({ line: n, why: 'the line has no text' })
      continue
    }
    // version 1 had no ids: each line followed the one before it
    const foreignId = typeof value['id'] === 'string' && value['id'] !== '' ? value['id'] : version < 2 || legacy ? `line-${String(n)}` : ''
    if (foreignId === '' || seen.has(foreignId)) {
      bad.push({ line: n, why: foreignId === '' ? 'the entry has no id' : `the id ${foreignId} came before` })
      continue
    }
    seen.add(foreignId)
    const line = newCompaction(value, (index) => nodes[index - 1]?.foreignId)
    const content = patched(legacy ? legacyContent(value) : contentOf(line, (id) => messages.get(id)), value['tau'])
    if (content.type === 'message') messages.set(foreignId, content.message)
    nodes.push({ n, value, foreignId, content })
  }
  return inOrder(nodes).map((node) => ({ ...node, id: newId() }))
}

/** The head's entry closes a file of Tau, wherever it stood before. */
function inOrder(nodes: readonly Unnamed[]): readonly Unnamed[] {
  const last = nodes.at(-1)
  const follows = isObject(last?.value['tau']) ? last.value['tau']['follows'] : undefined
  if (!last || follows === undefined) return nodes
  const at = follows === null ? 0 : nodes.findIndex((node) => node.foreignId === follows) + 1
  return at === 0 && follows !== null ? nodes : nodes.slice(0, -1).toSpliced(at, 0, last)
}

const legacyContent = (value: Json): Content => ({
  type: 'message',
  message:
    value['role'] === 'assistant'
      ? { role: 'assistant', parts: [{ type: 'text', text: String(value['text']) }], model: '', stopReason: 'stop' }
      : { role: 'user', parts: [{ type: 'text', text: String(value['text']) }] }
})

/** Version 1 named the entry that a compaction keeps from by its place in the file, the header being the first. */
export function newCompaction(value: Json, idAt: (index: number) => string | undefined): Json {
  const { firstKeptEntryIndex: index, ...rest } = value
  return value['type'] === 'compaction' && typeof index === 'number' ? { ...rest, firstKeptEntryId: idAt(index) ?? '' } : value
}

/** An entry with its place; one whose parent is not in the file follows the last readable one before it, and is reported. */
function place(
  { n, value, id, content }: Node,
  before: Entry | undefined,
  ids: ReadonlyMap<string, string>,
  session: { readonly id: string; readonly createdAt: number },
  bad: BadLine[]
): Entry {
  const named = 'parentId' in value ? value['parentId'] : value['parent']
  let parentId: string | null = before?.id ?? null
  if (named === null || named === '') parentId = null
  else if (typeof named === 'string') {
    const known = ids.get(named)
    // ids sort by the time they were made, so this parent is stored already
    if (known !== undefined && known < id) parentId = known
    else bad.push({ line: n, why: `its parent ${named} is not before it; it was put after the entry before it` })
  }
  // a line without a time was written when the one before it was, as far as anyone knows
  const at = timeOf(value['timestamp']) ?? before?.at ?? session.createdAt
  return repointed({ ...content, id, sessionId: session.id, parentId, at }, ids)
}

function timeOf(value: unknown): number | undefined {
  const time = Math.round(typeof value === 'string' ? Date.parse(value) : typeof value === 'number' ? value : NaN)
  return isTime(time) ? time : undefined
}

/** Pi is where the last entry of the file is; a marker of Tau stands below the head. */
function headOf(nodes: readonly Node[], parents: ReadonlyMap<string, string | null>): string | null {
  let last: Node | undefined
  for (const node of nodes) if (node.n > (last?.n ?? 0)) last = node
  if (!last) return null
  return last.value['customType'] === HEAD ? (parents.get(last.id) ?? null) : last.id
}

function addBeside(store: Store, sessionId: string, meta: Meta, ids: ReadonlyMap<string, string>, at: number): void {
  for (const [target, label] of meta.labels) {
    const id = ids.get(target)
    if (id !== undefined) store.sessions.setLabel(sessionId, id, label, at)
  }
  for (const { from, home, name, startedAt, ending, endedAt } of meta.sides.values()) {
    const [fromId, homeId] = [from, home].map((id) => (id === null ? null : ids.get(id)))
    if (fromId === undefined || homeId === undefined) continue
    const id = newId()
    store.sides.begin(sessionId, { id, from: fromId, home: homeId, name, startedAt })
    if (ending !== undefined && endedAt !== undefined) store.sides.end(id, ending, endedAt)
  }
}
