// The same work as bench/rows/abort.ts, done by Pi's agent. Null: not idle within the time that is given.
import { setTimeout as sleep } from 'node:timers/promises'
import { agentWith, call, result, scripted, text, tool } from './kit.mjs'

const handlers = {
  listening: (_id, _args, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
  deaf: async () => {
    await sleep(1_000)
    return result('late')
  },
  endless: () => new Promise(() => {})
}

export async function abort(kind, limitMs) {
  const agent = agentWith(
    [tool('work', handlers[kind])],
    scripted((n) => (n === 1 ? [call('work')] : [text('Done.')]))
  )
  const done = agent.prompt('Go.')
  await sleep(50)
  const start = performance.now()
  agent.abort()
  const settled = await Promise.race([done.then(() => true), sleep(limitMs, false)])
  return settled ? performance.now() - start : null
}
