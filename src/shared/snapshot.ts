// From a stored snapshot to the view that a watcher would have, and on from there.
import type { Snapshot } from './contract'
import { addEntry, moveHead } from './tree'
import { emptyView, fold, type SessionView } from './view'

/** The view at `snapshot.seq`. Costs one pass over the entries. */
export function viewOf(snapshot: Snapshot): SessionView {
  const first = snapshot.live[0]
  let view = emptyView(snapshot.session)
  for (const entry of snapshot.entries) view = { ...view, tree: addEntry(view.tree, entry) }
  if (snapshot.run) view = { ...view, run: snapshot.run }
  if (first) view = { ...view, seq: first.seq - 1 }
  for (const event of snapshot.live) view = fold(view, event)
  const { queue, session, approvals, notices, seq } = snapshot
  return { ...view, seq, session, queue, approvals, notices, tree: moveHead(view.tree, snapshot.head) }
}
