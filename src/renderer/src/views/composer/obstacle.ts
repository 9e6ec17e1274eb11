import type { Session } from '../../../../shared/session'
import type { LinkState } from '../../lib/api'

/** What keeps a message from being sent; always said beside the field. */
export type Obstacle = 'archived' | 'binned' | 'offline' | 'noModel'

export function obstacleOf(session: Session, link: LinkState): Obstacle | undefined {
  if (session.binnedAt !== undefined) return 'binned'
  if (session.archived) return 'archived'
  if (link !== 'connected') return 'offline'
  return session.model === '' ? 'noModel' : undefined
}
