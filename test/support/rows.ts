// Rows as tests store them by hand.
import type { Session } from '../../src/shared/session'

export const sessionRow = (id: string, more: Partial<Session> = {}): Session => ({
  id,
  title: `title of ${id}`,
  workspace: '/w',
  model: 'm',
  archived: false,
  mode: 'ask',
  steerMode: 'one-at-a-time',
  followUpMode: 'one-at-a-time',
  createdAt: 1,
  updatedAt: 1,
  state: 'ready',
  ...more
})
