// Undoing: what is meant by a call, a run or a node of the tree, and doing it in its turn among the effects of the workspace (spec T8).
import { callsOf } from '../../shared/message'
import type { KeptCall, UndoPlan, UndoStep, UndoTarget } from '../../shared/undo'
import { isEntry, type Desk } from './desk'
import { conflict, done, notFound, type Outcome } from './scope'

export interface UndoIntents {
  /** Calls whose effects were kept, newest first. */
  keptCalls(): KeptCall[]
  planUndo(target: UndoTarget): Promise<Outcome<UndoPlan>>
  /** Does what a plan said, in the order of the workspace's queue. */
  applyUndo(token: string): Promise<Outcome<{ kept?: KeptCall; steps: UndoStep[] }>>
}

export function createUndoIntents(desk: Desk): UndoIntents {
  const { id, scope, log } = desk
  const { store, undo, queue } = scope

  /** Kept calls that a target means, newest first; those that were undone already are left out, unless one of them is named. */
  function meant(target: UndoTarget): KeptCall[] | undefined {
    const all = undo.list(id)
    switch (target.kind) {
      case 'call':
        return all.filter((k) => k.id === target.id)
      case 'run':
        return all.filter((k) => k.runId === target.runId && k.undoneBy === undefined && !k.isUndo)
      case 'entry': {
        if (target.entryId !== null && !isEntry(desk, target.entryId)) return undefined
        const after = pathAfter(target.entryId)
        return all.filter((k) => k.undoneBy === undefined && !k.isUndo && after.has(resultOf(k) ?? ''))
      }
    }
  }

  /** The entry that holds the result of a kept call. */
  const resultOf = (kept: KeptCall): string | undefined => store.runs.entryOf(kept.runId, kept.callId)

  /** Entries of the path to the head that come after one; of a message with calls: after the message before them. */
  function pathAfter(entryId: string | null): Set<string> {
    const ids = new Set<string>()
    for (const entry of store.entries.up(id, desk.head)) {
      if (entry.id === entryId && !(entry.type === 'message' && callsOf(entry.message).length > 0)) break
      ids.add(entry.id)
      if (entry.id === entryId) break
    }
    return ids
  }

  async function planUndo(target: UndoTarget): Promise<Outcome<UndoPlan>> {
    const calls = meant(target)
    if (!calls) return notFound('There is no such message in this session.')
    return done(await undo.plan(calls.map((k) => k.id)))
  }

  return {
    keptCalls: () => undo.list(id),
    planUndo,
    async applyUndo(token) {
      const owner = { sessionId: id, runId: '', callId: token, tool: 'undo' }
      let outcome: Awaited<ReturnType<typeof undo.apply>> | undefined
      await queue.add(
        desk.info.workspace,
        {
          owner,
          exclusive: true,
          run: async () => {
            outcome = await undo.apply(token)
          }
        },
        new AbortController().signal
      )
      if (!outcome) return conflict('The undo did not begin.')
      if (!outcome.ok) return conflict(outcome.reason)
      const { kept, steps, undone } = outcome
      if (kept) log.commit((add) => add({ type: 'kept', kept, undone: [...undone] }))
      scope.audit({ event: 'undo', session_id: id, calls: undone.length, paths: steps.filter((s) => s.state === 'restore').length })
      return done({ ...(kept && { kept }), steps: [...steps] })
    }
  }
}
