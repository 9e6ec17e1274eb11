import { describe, expect, it } from 'vitest'
import { SessionEvent } from '../../src/shared/event'
import { freshFolder } from '../support/harness'
import { runCli } from '../support/host'

describe('the starter model', () => {
  it('is fetched once, and answers with streamed words by real inference', async (context) => {
    const home = freshFolder('home')
    const fetched = await runCli(['models', '--get-starter', '--json'], { home })
    context.skip(fetched.code !== 0, `the starter cannot be fetched here: ${fetched.err.trim()}`)
    const [model] = fetched.out.trim().split('\n')
    expect(JSON.parse(model ?? '')).toMatchObject({ id: 'engine:SmolLM2-135M-Instruct.Q4_1', ready: true, tools: false })
    const start = performance.now()
    expect((await runCli(['models', '--get-starter'], { home })).code).toBe(0)
    expect(performance.now() - start).toBeLessThan(10_000) // it is there: nothing is fetched again

    const { code, out } = await runCli(['ask', 'What is the capital of France?', '--json'], { home })
    const events = out
      .trim()
      .split('\n')
      .map((line) => SessionEvent.parse(JSON.parse(line)))
    const words = events.flatMap((e) => (e.type === 'message_update' ? [e.delta] : []))
    expect(code).toBe(0)
    expect(words.length).toBeGreaterThan(1)
    expect(words.join('')).toContain('France')
    expect(events.at(-1)).toMatchObject({ type: 'agent_end', state: 'completed' })
  }, 180_000)
})
