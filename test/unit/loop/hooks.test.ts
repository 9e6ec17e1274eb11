import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type AnyHook, createHooks, type HookReport } from '../../../src/main/loop/hooks'

const signal = new AbortController().signal
const input = { runId: 'r', turn: 1, spent: { turns: 0, calls: 0, tokens: 0, cost: 0, wallMs: 0 } }
const hook = (name: string, kind: 'gate' | 'observer', run: () => unknown, timeLimitMs?: number): AnyHook => ({
  point: 'turn.start',
  name,
  kind,
  ...(timeLimitMs !== undefined && { timeLimitMs }),
  run: run as () => undefined
})

describe('hooks', () => {
  it('run in order, and stop at the first that blocks', async () => {
    const seen: string[] = []
    const hooks = createHooks([
      hook('one', 'observer', () => void seen.push('one')),
      hook('two', 'gate', () => ({ kind: 'block', code: 'no', reason: 'because' })),
      hook('three', 'observer', () => void seen.push('three'))
    ])
    expect(await hooks.run('turn.start', input, signal)).toEqual([{ by: 'two', output: { kind: 'block', code: 'no', reason: 'because' } }])
    expect(seen).toEqual(['one'])
  })

  it('block when a gate throws or takes too long; only report it of an observer', async () => {
    const reports: HookReport[] = []
    const report = (r: HookReport): void => void reports.push(r)
    const fails = (): never => {
      throw new Error('boom')
    }
    const hangs = (): Promise<void> => sleep(60_000, undefined, { ref: false })
    for (const run of [fails, hangs]) {
      const [verdict] = await createHooks([hook('g', 'gate', run, 20)], report).run('turn.start', input, signal)
      expect(verdict?.output).toMatchObject({ kind: 'block', code: 'gate_failed', reason: expect.stringContaining('"g"') as string })
      expect(await createHooks([hook('o', 'observer', run, 20)], report).run('turn.start', input, signal)).toEqual([])
    }
    expect(reports.map((r) => r.problem)).toEqual(['threw', 'threw', 'timeout', 'timeout'])
  })

  it('cannot be changed by what an observer returns', async () => {
    const hooks = createHooks([hook('o', 'observer', () => ({ kind: 'block', code: 'x', reason: 'y' }))])
    expect(await hooks.run('turn.start', input, signal)).toEqual([])
  })
})
