// The same work as bench/rows/two-tools.ts, done by Pi's agent: one prompt, two tools of 180 and 300 ms, a final text.
import { setTimeout as sleep } from 'node:timers/promises'
import { agentWith, call, result, scripted, text, tool } from './kit.mjs'

/** A fresh agent with a listener; what is returned sends it one prompt and waits until it is idle. */
export function prepareTwoTools() {
  let requests = 0
  let events = 0
  const nap = (name, ms) =>
    tool(name, async () => {
      await sleep(ms)
      return result('done')
    })
  const agent = agentWith(
    [nap('read_log', 180), nap('load', 300)],
    scripted((n) => {
      requests = n
      return n === 1 ? [call('read_log'), call('load')] : [text('All fine.')]
    })
  )
  agent.subscribe(() => {
    events++
  })
  return async () => {
    await agent.prompt('Check the service.')
    if (events === 0 || requests !== 2) throw new Error('Pi did something else')
  }
}
