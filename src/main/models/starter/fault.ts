// Why fetching the starter model can fail, as values.
import type { Fault } from '../../../shared/message'

/** `not_there`, `broken_off`, `bad_hash` and `unreachable` concern one source; another may still have it. */
export type StarterCode = 'aborted' | 'disk_full' | 'bad_file' | 'not_there' | 'broken_off' | 'bad_hash' | 'unreachable' | 'no_source'

export interface StarterFault extends Fault {
  readonly code: StarterCode
}

export const createFault = (code: StarterCode, message: string): StarterFault => ({ code, message })

/** Whatever was thrown while fetching. */
export function toFault(cause: unknown, signal: AbortSignal): StarterFault {
  if (signal.aborted) return createFault('aborted', 'Stopped. What was fetched so far is kept.')
  const codes = codesOf(cause)
  if (codes.includes('ENOSPC') || codes.includes('EDQUOT'))
    return createFault('disk_full', 'The disk is full. Make room for about 200 MB and fetch again.')
  if (codes.includes('UND_ERR_SOCKET') || codes.includes('UND_ERR_BODY_TIMEOUT') || codes.includes('ECONNRESET'))
    return createFault('broken_off', 'The connection broke off.')
  if (codes.some((c) => /^E(ACCES|PERM|ROFS)$/.test(c)))
    return createFault('bad_file', `A file cannot be written or read (${codes.join(', ')}).`)
  return createFault('unreachable', codes.length > 0 ? codes.join(', ') : String(cause))
}

/** Codes of an error and of what caused it (fetch wraps the real one). */
function codesOf(cause: unknown): string[] {
  if (typeof cause !== 'object' || cause === null) return []
  const { code, cause: inner } = cause as { code?: unknown; cause?: unknown }
  return [...(typeof code === 'string' ? [code] : []), ...codesOf(inner)]
}
