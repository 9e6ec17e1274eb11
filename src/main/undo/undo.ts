// TEMP
import type { KeptCall, UndoPlan, UndoStep, UndoUsage } from '../../shared/undo'
export interface Kept { after(): Promise<KeptCall | undefined>; drop(): void }
export type UndoOutcome =
  | { readonly ok: true; readonly kept?: KeptCall; readonly steps: readonly UndoStep[]; readonly undone: readonly string[] }
  | { readonly ok: false; readonly code: string; readonly reason: string }
export interface Undo {
  before(call: { sessionId: string; runId: string; callId: string; tool: string; workspace: string; scope: readonly string[] | 'workspace'; signal: AbortSignal }): Promise<Kept>
  plan(ids: readonly string[]): Promise<UndoPlan>
  apply(token: string): Promise<UndoOutcome>
  list(sessionId: string): KeptCall[]
  usage(): UndoUsage
  clear(): void
}
export const noUndo: Undo = {
  before: () => Promise.resolve({ after: () => Promise.resolve(undefined), drop: () => undefined }),
  plan: () => Promise.resolve({ token: '', calls: [], steps: [] }),
  apply: () => Promise.resolve({ ok: false, code: 'none', reason: 'none' }),
  list: () => [],
  usage: () => ({ bytes: 0, calls: 0, limitBytes: 0, limitAgeMs: 0 }),
  clear: () => undefined
}
