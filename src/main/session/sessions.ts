// All sessions of a data folder: opened when first asked for, each once; made, forked, and deleted for good.
import type { Mode } from '../../shared/policy'
import type { Entry, Session } from '../../shared/session'
import { newId } from '../store/id'
import { copiesOf } from './branches'
import { conflict, done, notFound, type Outcome, type SessionScope } from './scope'
import { openSession, type SessionHandle } from './session'

interface NewSession {
  readonly title: string
  readonly workspace: string
  readonly model: string
  /** Default: what the policy says for the workspace. */
  readonly mode?: Mode
}
export interface Sessions {
  /** Newest first. */
  list(which: 'open' | 'archived' | 'binned'): Session[]
  create(from: NewSession): Session
  /** A new session with the path to an entry; `branches`: and with all that leaves that path before its end. Names on nodes come along. */
  fork(id: string, entryId: string, branches: boolean): Outcome<Session>
  /** Undefined when there is no such session. */
  get(id: string): SessionHandle | undefined
  /** Messages that contain the words, newest first; not of sessions in the bin. */
  search(words: string, limit: number): ReturnType<SessionScope['store']['entries']['search']>
  /** Deletes a session of the bin for good, when what was stopped there has ended. */
  purge(id: string): Promise<Outcome<{ purged: boolean }>>
  /** Stops every run, but those that wait for a person, and resolves when all of them are stored. */
  close(): Promise<void>
}

export function createSessions(scope: SessionScope): Sessions {
  const { store } = scope
  const open = new Map<string, SessionHandle>()

  function insert(from: NewSession & Pick<Session, 'forkedFrom'>): Session {
    const at = scope.now()
    const modes = { steerMode: 'one-at-a-time', followUpMode: 'one-at-a-time' } as const
    const mode = from.mode ?? scope.policy.modeFor(from.workspace)
    const session: Session = { id: newId(), ...from, mode, archived: false, ...modes, createdAt: at, updatedAt: at, state: 'ready' }
    store.sessions.insert(session)
    store.events.append(session.id, 1, at, { type: 'session', session })
    return session
  }

  function fork(id: string, entryId: string, branches: boolean): Outcome<Session> {
    const source = store.sessions.find(id)
    if (!source) return notFound(`There is no session ${id}.`)
    if (!store.entries.find(id, entryId)) return notFound('There is no such message in this session.')
    const wanted = new Set(Array.from(store.entries.up(id, entryId), (e) => e.id))
    const entries: Entry[] = []
    for (const entry of store.entries.all(id)) {
      if (branches && entry.parentId !== null && entry.parentId !== entryId && wanted.has(entry.parentId)) wanted.add(entry.id)
      if (wanted.has(entry.id)) entries.push(entry)
    }
    const labels = store.sessions.labels(id)
    const { title, workspace, model, mode } = source
    const session = store.write(() => {
      const made = insert({ title, workspace, model, mode, forkedFrom: { sessionId: id, entryId } })
      const copies = copiesOf(entries, made.id, null, 0)
      for (const [i, copy] of copies.entries()) {
        store.entries.add(copy)
        const { id: old } = entries[i] as Entry
        if (labels[old] !== undefined) store.sessions.setLabel(made.id, copy.id, labels[old], copy.at)
        if (old === entryId) store.sessions.setHead(made.id, copy.id)
      }
      return made
    })
    scope.changed(session)
    return done(session)
  }

  return {
    list: (which) => store.sessions.list(which),
    create(from) {
      const session = store.write(() => insert(from))
      scope.changed(session)
      return session
    },
    fork,
    get(id) {
      const known = open.get(id) ?? openSession(id, scope)
      if (known) open.set(id, known)
      return known
    },
    search: (words, limit) => {
      const binned = new Set(store.sessions.list('binned').map((s) => s.id))
      return store.entries.search(words, limit).filter((found) => !binned.has(found.sessionId))
    },
    async purge(id) {
      const session = store.sessions.find(id)
      if (!session) return notFound(`There is no session ${id}.`)
      if (session.binnedAt === undefined) return conflict('Only a session in the bin can be deleted for good.')
      await open.get(id)?.waitForIdle()
      open.delete(id)
      store.write(() => {
        store.sessions.purge(id)
      })
      return done({ purged: true })
    },
    async close() {
      await Promise.all([...open.values()].map((s) => s.leave()))
    }
  }
}
