import type { Run } from '../../../../shared/session'
import type { Tree } from '../../../../shared/tree'

/** Whether the latest run ended on the branch that is shown: the head is at the newest message that is known. */
export const endedAt = (tree: Tree, run: Run | undefined): boolean =>
  run !== undefined && tree.head === (tree.entries.items[tree.entries.length - 1]?.id ?? null)
