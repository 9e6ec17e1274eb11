// A Pi session file becomes a session (spec S2). The file is read only; every line is kept as it is, so that an export gives back the same bytes
// where nothing has changed. A line that cannot be read is reported by its number and hides nothing.
import { isObject, type Json, parseJson } from '../../../shared/json'
import { textOf } from '../../../shared/message'
import type { Entry } from '../../../shared/session'
import { firstLine } from '../../../shared/text'
import { repointed } from '../../../shared/tree'
import { newId } from '../id'
import type { Store } from '../store'
import { type BadLine, type Imported, type ImportOptions, newSession, type NotASession } from './imported'
import { type Content, contentOf } from './pi-read'

interface Line {
  readonly n: number
  readonly raw: string
  readonly value: Json | undefined
}
interface Node {
  readonly line: Line
  readonly foreignId: string
  readonly id: string
  readonly content: Content
}

export function importPi(store: Store, text: string, options: ImportOptions): Imported | NotASession {
  const lines = linesOf(text)
  const header = lines.find((l) => l.value !== undefined)?.value
  const legacy = header !== undefined && header['type'] === undefined && typeof header['text'] === 'string'
  if (header?.['type'] !== 'session' && !legacy) {
    return {
      ok: false,
      code: 'not_a_session',
      message: 'This is no session file: it does not begin with the header of a Pi session, and is no export of Tau.'
    }
  }
  const bad: BadLine[] = []
  const nodes = nodesOf(lines, Number(header['version'] ?? 1), legacy, bad)
  const ids = new Map(nodes.map((node) => [node.foreignId, node.id]))
  const title = titleOf(nodes)
  const folder = typeof header['cwd'] === 'string' && options.workspace === undefined ? header['cwd'] : options.workspace
  const session = newSession({ ...options, ...(folder !== undefined && { workspace: folder }) }, title)
  store.write(() => {
    store.sessions.insert(session)
    store.events.append(session.id, 1, session.createdAt, { type: 'session', session })
    let before: Node | undefined
    for (const node of nodes) {
      store.entries.add(place(node, before, ids, session.id, bad))
      before = node
    }
    store.sessions.setHead(session.id, before?.id ?? null)
    for (const { line, id } of nodes) if (line.value?.['type'] === 'label') setLabel(store, session.id, ids, line.value, id)
    const byLine = new Map(nodes.map((node) => [node.line, node]))
    for (const line of lines) {
      const node = byLine.get(line)
      store.imported.add(session.id, { n: line.n, line: line.raw, entryId: node?.id, foreignId: node?.foreignId })
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

function nodesOf(lines: readonly Line[], version: number, legacy: boolean, bad: BadLine[]): Node[] {
  const nodes: Node[] = []
  const seen = new Set<string>()
  for (const line of lines) {
    const { value, n } = line
    if (value === undefined) {
      if (line.raw.trim() !== '') bad.push({ line: n, why: n === lines.length ? 'the line is cut' : 'the line is no JSON object' })
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
    nodes.push({ line, foreignId, id: newId(), content: legacy ? legacyContent(value) : contentOf(oldCompaction(value, version, nodes)) })
  }
  return nodes
}

const legacyContent = (value: Json): Content => ({
  type: 'message',
  message:
    value['role'] === 'assistant'
      ? { role: 'assistant', parts: [{ type: 'text', text: String(value['text']) }], model: '', stopReason: 'stop' }
      : { role: 'user', parts: [{ type: 'text', text: String(value['text']) }] }
})

/** Version 1 named the entry that a compaction keeps from by its place in the file. */
function oldCompaction(value: Json, version: number, nodes: readonly Node[]): Json {
  if (version >= 2 || value['type'] !== 'compaction' || typeof value['firstKeptEntryIndex'] !== 'number') return value
  return { ...value, firstKeptEntryId: nodes[value['firstKeptEntryIndex'] - 1]?.foreignId }
}

/** An entry with its place; one whose parent is not in the file follows the last readable one before it, and is reported. */
function place(node: Node, before: Node | undefined, ids: ReadonlyMap<string, string>, sessionId: string, bad: BadLine[]): Entry {
  const { line, id, content } = node
  const named = line.value && 'parentId' in line.value ? line.value['parentId'] : line.value?.['parent']
  let parentId: string | null = before?.id ?? null
  if (named === null) parentId = null
  else if (typeof named === 'string') {
    const known = ids.get(named)
    if (known !== undefined && known < id) parentId = known
    else bad.push({ line: line.n, why: `its parent ${named} is not before it; it was put after the entry before it` })
  }
  const time = line.value?.['timestamp']
  const at = typeof time === 'string' ? Date.parse(time) : typeof time === 'number' ? time : NaN
  return repointed({ ...content, id, sessionId, parentId, at: Number.isFinite(at) ? Math.round(at) : 0 }, ids)
}

function setLabel(store: Store, sessionId: string, ids: ReadonlyMap<string, string>, value: Json, at: string): void {
  const target = typeof value['targetId'] === 'string' ? ids.get(value['targetId']) : undefined
  const label = typeof value['label'] === 'string' && value['label'] !== '' ? value['label'] : null
  if (target !== undefined && target < at) store.sessions.setLabel(sessionId, target, label, 0)
}

function titleOf(nodes: readonly Node[]): string {
  const named = nodes.findLast((n) => n.line.value?.['type'] === 'session_info')?.line.value?.['name']
  if (typeof named === 'string' && named.trim() !== '') return named.trim().slice(0, 200)
  for (const { content } of nodes) {
    const words = content.type === 'message' && content.message.role === 'user' ? textOf(content.message).trim() : ''
    if (words !== '') return firstLine(words, 60)
  }
  return ''
}
