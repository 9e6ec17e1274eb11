// Tau's own format: one JSON document with the whole tree, written in pieces and read back without loss.
import { z } from 'zod'
import { Entry, type Session } from '../../../shared/session'
import { repointed } from '../../../shared/tree'
import { newId } from '../id'
import type { Store } from '../store'
import { type Imported, type ImportOptions, newSession, type NotASession } from './imported'

const VERSION = 1

/** Pieces of the document, about a line each. */
export function* exportJson(store: Store, session: Session & { readonly head: string | null }): Generator<string> {
  const { id, head, title, workspace, model, createdAt, updatedAt } = session
  const labels = store.sessions.labels(id)
  yield `{"tau":${String(VERSION)},"session":${JSON.stringify({ title, workspace, model, createdAt, updatedAt })},\n`
  yield `"head":${JSON.stringify(head)},"labels":${JSON.stringify(labels)},\n"entries":[`
  let between = '\n'
  for (const entry of store.entries.all(id)) {
    const { sessionId, ...rest } = entry
    yield `${between}${JSON.stringify(rest)}`
    between = ',\n'
  }
  yield '\n]}\n'
}

const Document = z.object({
  tau: z.literal(VERSION),
  session: z.object({ title: z.string(), workspace: z.string().optional(), model: z.string().optional() }),
  head: z.string().nullable(),
  labels: z.record(z.string(), z.string()),
  entries: z.array(z.record(z.string(), z.unknown()))
})

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
  const { session: from, head, labels, entries } = read.data
  const bad: { line: number; why: string }[] = []
  const ids = new Map<string, string>()
  const workspace = options.workspace ?? from.workspace
  const session = newSession({ ...options, ...(workspace !== undefined && { workspace }), model: from.model ?? options.model }, from.title)
  store.write(() => {
    store.sessions.insert(session)
    store.events.append(session.id, 1, session.createdAt, { type: 'session', session })
    for (const [i, raw] of entries.entries()) {
      const entry = Entry.safeParse({ ...raw, sessionId: session.id })
      const parent = entry.success && entry.data.parentId !== null ? ids.get(entry.data.parentId) : null
      if (!entry.success || parent === undefined) {
        const why = entry.success
          ? 'its parent is not before it'
          : `${entry.error.issues[0]?.path.join('.') ?? ''}: ${entry.error.issues[0]?.message ?? ''}`
        bad.push({ line: i + 1, why })
        continue
      }
      const id = newId()
      ids.set(entry.data.id, id)
      store.entries.add({ ...repointed(entry.data, ids), id, parentId: parent })
    }
    for (const [id, label] of Object.entries(labels)) {
      const target = ids.get(id)
      if (target !== undefined) store.sessions.setLabel(session.id, target, label, options.at)
    }
    store.sessions.setHead(session.id, head === null ? null : (ids.get(head) ?? store.sessions.find(session.id)?.head ?? null))
    store.sessions.touch(session.id, session.updatedAt)
  })
  return { ok: true, session, entries: ids.size, bad }
}
