// Undo without git (spec T8): what was there before each effect is kept, shown before it is brought back, and brought back file by file.
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { KeptCall, UndoPlan, UndoStep, UndoUsage } from '../../shared/undo'
import { createKeeping, type Kept, type KeptCallScope } from './keep'
import { openPacks } from './packs'
import { createPlans } from './plan'
import { prune } from './prune'
import { carryOut } from './restore'
import type { ScanLimits } from './scan'
import { type KeptStore, openShelf } from './shelf'

type UndoOutcome =
  | { readonly ok: true; readonly kept?: KeptCall; readonly steps: readonly UndoStep[]; readonly undone: readonly string[] }
  | { readonly ok: false; readonly code: 'unknown_plan' | 'nothing' | 'failed'; readonly reason: string }

export interface Undo {
  /** Keeps what is there before an effect; durable against a killed process when it resolves. Never throws. */
  before(call: KeptCallScope): Promise<Kept>
  /** What undoing these kept calls would do, file by file; nothing is changed. */
  plan(ids: readonly string[]): Promise<UndoPlan>
  /** Does what a plan said; a path that is not as the plan saw it stays as it is. */
  apply(token: string): Promise<UndoOutcome>
  /** Of a session, newest first. */
  list(sessionId: string): KeptCall[]
  usage(): UndoUsage
  /** Forgets everything. */
  clear(): void
  /** Lets go of what is too old, and of the oldest where it is too much. */
  prune(): void
  /** Ends what a killed process left open. Never throws. */
  recover(): Promise<KeptCall[]>
  close(): void
}

export interface UndoLimits extends ScanLimits {
  /** Bytes of all that is kept. */
  readonly keptBytes: number
  readonly ageMs: number
}

export const UNDO_LIMITS: UndoLimits = {
  fileBytes: 32_000_000,
  totalBytes: 512_000_000,
  paths: 200_000,
  keptBytes: 1_000_000_000,
  ageMs: 30 * 24 * 3_600_000
}

export interface UndoConfig {
  readonly store: KeptStore
  /** Where contents lie; made when there are any. */
  readonly folder: string
  readonly limits?: UndoLimits
  readonly now: () => number
  /** Something could not be kept or compared. */
  readonly failed: (error: unknown) => void
}

export function createUndo({ store, folder, limits = UNDO_LIMITS, now, failed }: UndoConfig): Undo {
  const packs = openPacks(folder)
  const shelf = openShelf(store, packs)
  const keeping = createKeeping(shelf, limits, now, () => roomFor(folder))
  const plans = createPlans(shelf)
  const { table } = shelf

  return {
    async before(call) {
      try {
        const kept = await keeping.before(call)
        return {
          after: () =>
            kept.after().catch((error: unknown) => {
              failed(error)
              return undefined
            })
        }
      } catch (error) {
        failed(error)
        return NOTHING
      }
    },
    plan: (ids) => plans.make(ids),
    async apply(token) {
      const plan = plans.take(token)
      if (!plan) return { ok: false, code: 'unknown_plan', reason: 'This plan is not known any more. Look at what would be undone again.' }
      if (!plan.paths.some((p) => p.state === 'restore'))
        return { ok: false, code: 'nothing', reason: 'There is nothing that this undo would bring back.' }
      try {
        return { ok: true, ...(await carryOut(plan, shelf, now)) }
      } catch (error) {
        failed(error)
        return { ok: false, code: 'failed', reason: `Nothing was undone: ${error instanceof Error ? error.message : String(error)}` }
      }
    },
    list: (sessionId) => table.list(sessionId).map((row) => shelf.callOf(row)),
    usage() {
      const all = table.all()
      return {
        bytes: [...packs.sizes().values()].reduce((sum, n) => sum + n, 0),
        calls: all.length,
        limitBytes: limits.keptBytes,
        limitAgeMs: limits.ageMs,
        ...(all[0] && { oldestAt: all[0].at })
      }
    },
    clear() {
      shelf.forget()
      prune(shelf, { ...limits, keptBytes: 0, ageMs: -Infinity }, now())
    },
    prune() {
      prune(shelf, limits, now())
    },
    recover: () => keeping.recover(failed),
    close: () => {
      packs.close()
    }
  }
}

/** What must stay free on the disk of the data folder: words, results and questions go before what undo keeps. */
const RESERVE_BYTES = 100_000_000

function roomFor(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(dirname(folder))
    return Math.max(0, bavail * bsize - RESERVE_BYTES)
  } catch {
    return Infinity // a system that cannot say
  }
}

const NOTHING: Kept = { after: () => Promise.resolve(undefined) }
