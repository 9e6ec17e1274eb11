import type { LoopInput } from '../../src/main/loop/loop'

/** What a loop needs of a session, with nothing behind it: no output is kept, no effect can be undone, no call is stopped by itself. */
export const bareHost: Pick<LoopInput, 'sessionId' | 'outputs' | 'keeper' | 'cancelled'> = {
  sessionId: 's',
  outputs: { open: () => ({ ref: 'out_0', write: () => undefined, close: () => Promise.resolve({ bytes: 0, kept: 0 }) }) },
  keeper: { before: () => Promise.resolve(undefined) },
  cancelled: () => new AbortController().signal
}
