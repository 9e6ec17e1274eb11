// Limits of one run (spec G2). The defaults are such that no honest task meets them; a model that runs away does.
import type { Spent, StopCause } from '../../shared/session'

/** Turns, calls, tokens (read and written), US dollars, milliseconds. */
export type Budget = Spent

export const DEFAULT_BUDGET: Budget = { turns: 200, calls: 1_000, tokens: 20_000_000, cost: 20, wallMs: 4 * 60 * 60_000 }

/** Names as a reader knows them. */
const NAMES: Readonly<Record<keyof Budget, string>> = {
  turns: 'turns',
  calls: 'calls',
  tokens: 'tokens',
  cost: 'money',
  wallMs: 'wall time'
}

/** The default with what the person gave in its place. */
export const budgetWith = (base: Budget, more: Partial<Record<keyof Budget, number | undefined>>): Budget => ({
  turns: more.turns ?? base.turns,
  calls: more.calls ?? base.calls,
  tokens: more.tokens ?? base.tokens,
  cost: more.cost ?? base.cost,
  wallMs: more.wallMs ?? base.wallMs
})

/**
 * Why nothing more may be asked for after `spent`, or undefined when it may. Calls are counted where they are made: a run that has made all of
 * them may still say what it found.
 */
export function overBudget(budget: Budget, spent: Spent): StopCause | undefined {
  for (const key of ['turns', 'tokens', 'cost', 'wallMs'] as const) if (spent[key] >= budget[key]) return budgetStop(budget, key)
  return undefined
}

export const budgetStop = (budget: Budget, key: keyof Budget): Extract<StopCause, { kind: 'budget' }> => ({
  kind: 'budget',
  budget: NAMES[key],
  limit: budget[key]
})
