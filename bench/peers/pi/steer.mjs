// The same work as bench/rows/steer.ts, done by Pi's agent.
import { setTimeout as sleep } from 'node:timers/promises'
import { agentWith, call, result, scripted, text, tool } from './kit.mjs'

const WORDS = 'Stop, conclude.'

export async function steer() {
  let requests = 0
  let shards = 0
  let shardEnded = 0
  let overToolMs = NaN
  const agent = agentWith(
    [
      tool('scan', async () => {
        if (shards === 2) setTimeout(() => agent.steer({ role: 'user', content: WORDS, timestamp: Date.now() }), 75)
        await sleep(150)
        shards++
        shardEnded = performance.now()
        return result('shard clean')
      })
    ],
    scripted(async (_n, context) => {
      requests++
      const told = context.messages.some((m) => m.role === 'user' && m.content === WORDS)
      if (told && Number.isNaN(overToolMs)) overToolMs = performance.now() - shardEnded
      await sleep(25)
      return told || shards === 6 ? [text('Concluded.')] : [call('scan')]
    })
  )
  await agent.prompt('Scan.')
  return { requests, overToolMs }
}
