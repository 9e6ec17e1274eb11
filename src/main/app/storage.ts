// What the person is told when the disk refuses.
import type { AppState } from '../../shared/contract'

export const WELL: AppState['storage'] = { state: 'ok', message: '' }

/** State and words for an error of the store; `home` is the data folder. */
export function storageTrouble(error: unknown, home: string): AppState['storage'] {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  if (code.startsWith('SQLITE_FULL') || code === 'ENOSPC')
    return { state: 'full', message: `the disk of ${home} is full. Make room; what runs waits and goes on by itself.` }
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED'))
    return { state: 'busy', message: `another program holds the database in ${home}. What runs waits and goes on by itself.` }
  if (code.startsWith('SQLITE_READONLY') || code === 'EROFS')
    return { state: 'read-only', message: `nothing can be saved in ${home}: it is read-only. Choose another folder with --home.` }
  return {
    state: 'failing',
    message: `the disk of ${home} reports a fault (${code || 'of a kind that is not known'}). What runs waits and tries again.`
  }
}
