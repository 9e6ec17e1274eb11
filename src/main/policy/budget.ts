// Limits of one run (spec G2). The defaults are such that no honest task meets them; a model that runs away does.
import type { StopCause } from '../../shared/session'

export interface Budget {
  readonly turns: number
  readonly wallMs: number
}
export const DEFAULT_BUDGET: Budget = { turns: 200, wallMs: 4 * 60 * 60_000 }

/** Why turn `turn` must not begin, or undefined when it may. */
export function overBudget(budget: Budget, turn: number, elapsedMs: number): StopCause | undefined {
  if (turn > budget.turns) return { kind: 'budget', budget: 'turns', limit: budget.turns }
  if (elapsedMs > budget.wallMs) return { kind: 'budget', budget: 'wall time', limit: budget.wallMs }
  return undefined
}
