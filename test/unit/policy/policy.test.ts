import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { budgetWith, DEFAULT_BUDGET, overBudget } from '../../../src/main/policy/budget'
import { type CallOutcome, watchRepetition } from '../../../src/main/policy/repetition'
import type { Spent } from '../../../src/shared/session'

describe('a budget', () => {
  const none: Spent = { turns: 0, calls: 0, tokens: 0, cost: 0, wallMs: 0 }
  it.each([
    ['turns', 'turns'],
    ['tokens', 'tokens'],
    ['cost', 'money'],
    ['wallMs', 'wall time']
  ] as const)('of %s ends a run when it is used up, not before', (key, name) => {
    expect(overBudget(DEFAULT_BUDGET, { ...none, [key]: DEFAULT_BUDGET[key] - 1 })).toBeUndefined()
    expect(overBudget(DEFAULT_BUDGET, { ...none, [key]: DEFAULT_BUDGET[key] })).toEqual({
      kind: 'budget',
      budget: name,
      limit: DEFAULT_BUDGET[key]
    })
  })
  it('takes what the person gave and keeps the rest', () => {
    expect(budgetWith(DEFAULT_BUDGET, { turns: 7, cost: undefined })).toEqual({ ...DEFAULT_BUDGET, turns: 7 })
  })
})

describe('repetition', () => {
  type Turn = CallOutcome[]
  const call = (name: string, raw = '{}', code = 'not_found', text = 'no such file'): CallOutcome => ({ name, raw, code, text })
  /** Turns until the run is ended, and the turns in which the model was told. */
  function play(turns: Turn[]): { ended: number | undefined; told: number[] } {
    const watch = watchRepetition((text) => text)
    const told: number[] = []
    for (const [i, turn] of turns.entries()) {
      if (turn.map((c) => watch.note(c)).some((n) => n.tell)) told.push(i + 1)
      if (watch.endTurn()) return { ended: i + 1, told }
    }
    return { ended: undefined, told }
  }
  const repeat = (n: number, turn: (i: number) => Turn): Turn[] => Array.from({ length: n }, (_, i) => turn(i))

  it('of one failing call is told at the third and ended at the fifth request', () => {
    expect(play(repeat(30, () => [call('read')]))).toEqual({ ended: 5, told: [3, 4, 5] })
  })
  it.each([1, 2, 3, 4])('of a circle of %i working calls is ended within ten requests', (period) => {
    const { ended, told } = play(repeat(30, (i) => [call('read', String(i % period), 'ok', `text ${String(i % period)}`)]))
    expect(ended).toBeLessThanOrEqual(10)
    expect(told.length).toBeGreaterThan(0)
  })
  it('is no repetition while results change, or while one call of each turn is new', () => {
    expect(play(repeat(50, (i) => [call('status', '{}', 'ok', `${String(i)} %`)]))).toEqual({ ended: undefined, told: [] })
    expect(play(repeat(50, (i) => [call('read', '{}', 'ok', 'same'), call('read', String(i), 'ok', 'other')])).ended).toBeUndefined()
  })
  it('ends a run whose calls can never be read, however they differ', () => {
    const { ended, told } = play(repeat(30, (i) => [call(`tool_${String(i)}`, String(i), 'unknown_tool', String(i))]))
    expect({ ended, first: told[0] }).toEqual({ ended: 8, first: 3 })
  })
  it('never ends an honest run, whatever it does, before something came twice', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(), { maxLength: 60 }), (results) => {
        expect(play(results.map((r) => [call('read', '{}', 'ok', String(r))])).ended).toBeUndefined()
      })
    )
  })
})
