// The same work as bench/rows/runaway.ts, done by Pi's agent, which has no limit of its own: the script ends it after `cap` calls.
import { agentWith, call, scripted, text, tool } from './kit.mjs'

export async function runaway(cap) {
  let requests = 0
  const fail = async () => {
    throw new Error('no such file')
  }
  const agent = agentWith(
    [tool('read', fail, { path: { type: 'string' } }, ['path'])],
    scripted((n) => {
      requests = n
      return n > cap ? [text('Enough.')] : [call('read', { path: 'missing' })]
    })
  )
  await agent.prompt('Go.')
  return requests
}
