// The same work as bench/rows/steer.ts, done by Pi's agent.
import { setTimeout as sleep } from 'node:timers/promises'
import { agentWith, call, result, scripted, text, tool } from './kit.mjs'

export async function steer(words) {
  let requests = 0
  let shards = 0
  let shardEnded = NaN
  let overToolMs = NaN
  const agent = agentWith(
    [
      tool('scan', async () => {
        if (shards === 2) setTimeout(() => agent.steer({ role: 'user', content: words, timestamp: Date.now() }), 75)
        await sleep(150)
        shardEnded = performance.now()
        return result(`shard ${++shards} clean`)
      })
    ],
    scripted(async (_n, context) => {
      requests++
      const told = context.messages.some((m) => m.role === 'user' && m.content === words)
      if (told && Number.isNaN(overToolMs)) overToolMs = performance.now() - shardEnded
      await sleep(25)
      return told || shards === 6 ? [text('Concluded.')] : [call('scan')]
    })
  )
  await agent.prompt('Scan.')
  return { requests, overToolMs }
}
