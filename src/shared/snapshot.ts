// From a stored snapshot to the view that a watcher would have, and on from there.
import type { Snapshot } from './contract'
import type { Entry } from './session'
import { moveHead, treeOf } from './tree'
import { emptyView, fold, keptKey, type SessionView } from './view'

/** The view at `snapshot.seq`. Costs one pass over the entries. */
export function viewOf(snapshot: Snapshot): SessionView {
  const { queue, session, approvals, notices, seq, labels, sides, run, live, entries, beside, kept } = snapshot
  const first = live[0]
  let view: SessionView = { ...emptyView(session), tree: treeOf(entries, null, beside), ...(run && { run }) }
  if (first) view = { ...view, seq: first.seq - 1 }
  for (const event of live) view = fold(view, event)
  const tree = moveHead(view.tree, snapshot.head)
  return {
    ...view,
    seq,
    session,
    queue,
    approvals,
    notices,
    sides,
    labels: new Map(Object.entries(labels)),
    kept: new Map(kept.map((k) => [keptKey(k), k])),
    tree
  }
}

/** The view with older entries of its path before it: what `sessions.older` gave. */
export function withOlder(view: SessionView, older: { entries: readonly Entry[]; beside: Snapshot['beside'] }): SessionView {
  const known = view.tree.entries.items.slice(0, view.tree.entries.length)
  const fresh = older.entries.filter((e) => (view.tree.index.get(e.id) ?? Infinity) >= known.length)
  const beside: Record<string, readonly string[]> = { ...older.beside }
  for (const [parent, list] of view.tree.children) beside[parent] ??= list.items.slice(0, list.length)
  return { ...view, tree: treeOf([...fresh, ...known], view.tree.head, beside) }
}
