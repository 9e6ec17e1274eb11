// What can be read of a data folder that is not ours: the runs of a Tau that was stopped, exactly as it left them (spec L2).
import type { RunReport } from '../../../shared/contract'
import { runReports } from '../../session/snapshot'
import { peekStore } from '../../store/open/peek'

export { readOwner } from '../../store/open/lock'

/** Runs of the session that is called `id` or ends so; undefined when there is none. Nothing is written. Throws StoreError. */
export function lookAtRuns(home: string, id: string): RunReport[] | undefined {
  const store = peekStore(home)
  try {
    const sessions = (['open', 'archived', 'binned'] as const).flatMap((which) => store.sessions.list(which))
    const found = sessions.filter((s) => s.id === id || (id.length >= 4 && s.id.endsWith(id)))
    const [session] = found
    return session && found.length === 1 ? runReports(session.id, store.runs) : undefined
  } finally {
    store.close()
  }
}
