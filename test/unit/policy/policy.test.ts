import { describe, expect, it } from 'vitest'
import { DEFAULT_BUDGET, overBudget } from '../../../src/main/policy/budget'
import { decide } from '../../../src/main/policy/permission'
import type { Label } from '../../../src/shared/session'

const ask = (label: Label, args: unknown, permitted: string[] = []): string =>
  decide({ tool: 'tool', label, arguments: args, workspace: '/home/ada/space' }, new Set(permitted)).kind

describe('permission', () => {
  it('lets reading inside the workspace through and asks for everything else', () => {
    expect(ask('readonly', { path: 'a/b' })).toBe('allow')
    for (const label of ['write', 'network', 'exec'] as const) expect(ask(label, { path: 'a/b' })).toBe('ask')
  })

  it('does not ask again for a tool that was allowed for the session', () => {
    expect(ask('write', { path: 'a' }, ['tool'])).toBe('allow')
    expect(ask('write', { path: 'a' }, ['other'])).toBe('ask')
  })

  it.each(['../x', '/etc/passwd', 'a/../../x', '..', '/home/ada/spaceship'])('refuses %s whatever was allowed', (path) => {
    expect(ask('readonly', { path })).toBe('deny')
    expect(ask('write', { path }, ['tool'])).toBe('deny')
  })

  it.each(['..x', 'a/..b', './a', '/home/ada/space/a', ''])('does not take %j for a way out', (path) => {
    expect(ask('readonly', { path })).toBe('allow')
  })
})

it('ends a run at its limits, not before', () => {
  expect(overBudget(DEFAULT_BUDGET, DEFAULT_BUDGET.turns, 0)).toBeUndefined()
  expect(overBudget(DEFAULT_BUDGET, DEFAULT_BUDGET.turns + 1, 0)).toMatchObject({ kind: 'budget', budget: 'turns' })
  expect(overBudget(DEFAULT_BUDGET, 1, DEFAULT_BUDGET.wallMs + 1)).toMatchObject({ kind: 'budget', budget: 'wall time' })
})
