// All sessions of a data folder: opened when first asked for, each once.
import type { Session } from '../../shared/session'
import { newId } from '../store/id'
import type { SessionScope } from './scope'
import { openSession, type SessionHandle } from './session'

interface NewSession {
  readonly title: string
  readonly workspace: string
  readonly model: string
}
export interface Sessions {
  /** Newest first. */
  list(archived: boolean): Session[]
  create(from: NewSession): Session
  /** Undefined when there is no such session. */
  get(id: string): SessionHandle | undefined
  /** Stops every run and resolves when all of them are stored. */
  close(): Promise<void>
}

export function createSessions(scope: SessionScope): Sessions {
  const { store } = scope
  const open = new Map<string, SessionHandle>()
  return {
    list: (archived) => store.sessions.list(archived),
    create(from) {
      const at = scope.now()
      const session: Session = { id: newId(), ...from, archived: false, createdAt: at, updatedAt: at, state: 'ready' }
      store.write(() => {
        store.sessions.insert(session)
        store.events.append(session.id, at, { type: 'session', session })
      })
      scope.changed(session)
      return session
    },
    get(id) {
      const known = open.get(id) ?? openSession(id, scope)
      if (known) open.set(id, known)
      return known
    },
    async close() {
      for (const session of open.values()) session.stop()
      await Promise.all([...open.values()].map((s) => s.waitForIdle()))
    }
  }
}
