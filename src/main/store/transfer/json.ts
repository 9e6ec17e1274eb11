// Tau's own format: one JSON document with the whole tree, written in pieces and read back without loss. Lines of an imported file go along, so
// that a session keeps its way back to Pi.
import { z } from 'zod'
import { Entry, QueueMode, Session, SideBranch, SideEnding } from '../../../shared/session'
import { repointed } from '../../../shared/tree'
import { newId } from '../id'
import type { Store } from '../store'
import { type BadLine, type Imported, type ImportOptions, newSession, type NotASession } from './imported'
import { isTime } from './pi-meta'

const VERSION = 1

/** Pieces of the document, about a line each. */
export function* exportJson(store: Store, session: Session & { readonly head: string | null }): Generator<string> {
  const { id, head, title, workspace, model, steerMode, followUpMode, forkedFrom, createdAt, updatedAt } = session
  const facts = { title, workspace, model, steerMode, followUpMode, ...(forkedFrom && { forkedFrom }), createdAt, updatedAt }
  yield `{"tau":${String(VERSION)},"session":${JSON.stringify(facts)},\n`
  yield `"head":${JSON.stringify(head)},"labels":${JSON.stringify(store.sessions.labels(id))},\n`
  yield `"sides":${JSON.stringify(store.sides.all(id))},\n"entries":[`
  yield* list(store.entries.all(id), ({ sessionId, ...entry }) => entry)
  yield `],\n"lines":[`
  yield* list(store.imported.walk(id), (line) => line)
  yield ']}\n'
}

function* list<T>(items: Iterable<T>, plain: (item: T) => object): Generator<string> {
  let between = '\n'
  for (const item of items) {
    yield `${between}${JSON.stringify(plain(item))}`
    between = ',\n'
  }
  if (between !== '\n') yield '\n'
}

const Line = z.object({
  n: z.number().int().positive(),
  line: z.string(),
  entryId: z.string().optional(),
  foreignId: z.string().optional()
})
const Document = z.object({
  tau: z.literal(VERSION),
  session: z.object({
    title: z.string(),
    workspace: z.string().optional(),
    model: z.string().optional(),
    steerMode: QueueMode.optional(),
    followUpMode: QueueMode.optional(),
    forkedFrom: Session.shape.forkedFrom
  }),
  head: z.string().nullable(),
  labels: z.record(z.string(), z.string()),
  sides: z.array(SideBranch.extend({ ending: SideEnding.optional(), endedAt: z.number().int().optional() })).optional(),
  entries: z.array(z.record(z.string(), z.unknown())),
  lines: z.array(Line).optional()
})
type Document = z.infer<typeof Document>

export function importJson(store: Store, value: unknown, options: ImportOptions): Imported | NotASession {
  const read = Document.safeParse(value)
  if (!read.success) {
    const [issue] = read.error.issues
    return {
      ok: false,
      code: 'not_a_session',
      message: `This is no session that Tau exported: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}.`
    }
  }
  const { session: from, head } = read.data
  const bad: BadLine[] = []
  const workspace = options.workspace ?? from.workspace
  const plain = newSession({ ...options, ...(workspace !== undefined && { workspace }), model: from.model ?? options.model }, from.title)
  const session: Session = {
    ...plain,
    steerMode: from.steerMode ?? plain.steerMode,
    followUpMode: from.followUpMode ?? plain.followUpMode,
    ...(from.forkedFrom && { forkedFrom: from.forkedFrom })
  }
  let entries = 0
  store.write(() => {
    store.sessions.insert(session)
    store.events.append(session.id, 1, session.createdAt, { type: 'session', session })
    const ids = addEntries(store, session, read.data.entries, bad)
    entries = ids.size
    addBeside(store, session.id, read.data, ids, options.at)
    const stored = store.sessions.find(session.id)?.head ?? null
    store.sessions.setHead(session.id, head === null ? null : (ids.get(head) ?? stored))
    store.sessions.touch(session.id, session.updatedAt)
  })
  return { ok: true, session, entries, bad }
}

/** New ids by old ones. An entry whose parent is not before it follows the last readable one, and is reported: nothing readable is lost. */
function addEntries(store: Store, session: Session, raw: Document['entries'], bad: BadLine[]): Map<string, string> {
  const ids = new Map<string, string>()
  let before: string | null = null
  for (const [i, value] of raw.entries()) {
    const line = i + 1
    const { success, data: entry, error } = Entry.safeParse({ ...value, sessionId: session.id })
    if (!success || ids.has(entry.id)) {
      const issue = error?.issues[0]
      bad.push({ line, why: success ? `the id ${entry.id} came before` : `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}` })
      continue
    }
    let parentId: string | null = null
    if (entry.parentId !== null) {
      const known = ids.get(entry.parentId)
      if (known === undefined)
        bad.push({ line, why: `its parent ${entry.parentId} is not before it; it was put after the entry before it` })
      parentId = known ?? before
    }
    const id = newId()
    store.entries.add({ ...repointed(entry, ids), id, parentId, at: isTime(entry.at) ? entry.at : session.createdAt })
    ids.set(entry.id, id)
    before = id
  }
  return ids
}

function addBeside(
  store: Store,
  sessionId: string,
  { labels, sides = [], lines = [] }: Document,
  ids: ReadonlyMap<string, string>,
  at: number
): void {
  for (const [id, label] of Object.entries(labels)) {
    const target = ids.get(id)
    if (target !== undefined) store.sessions.setLabel(sessionId, target, label, at)
  }
  for (const { id: old, from, home, ending, endedAt, ...side } of sides) {
    const [fromId, homeId] = [from, home].map((id) => (id === null ? null : ids.get(id)))
    if (fromId === undefined || homeId === undefined) continue
    const id = newId()
    store.sides.begin(sessionId, { ...side, id, from: fromId, home: homeId })
    if (ending !== undefined && endedAt !== undefined) store.sides.end(id, ending, endedAt)
  }
  // a number or an entry that a second line claims stays with the first
  const seen = new Set<number | string>()
  for (const { n, line, entryId, foreignId } of lines) {
    if (seen.has(n) || (entryId !== undefined && seen.has(entryId))) continue
    seen.add(n)
    if (entryId !== undefined) seen.add(entryId)
    store.imported.add(sessionId, { n, line, entryId: entryId === undefined ? undefined : ids.get(entryId), foreignId })
  }
}
