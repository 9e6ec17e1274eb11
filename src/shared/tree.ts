// A session is a tree: every entry points to its parent, `head` points to where the conversation is. Going back or branching only moves the
// head (spec S1). Pure walks over entries; each says what it returns when there is nothing to find.
import type { Entry } from './session'
import { append, emptyList, type List, listOf } from './list'

export interface Tree {
  /** Every entry in the order it was stored. */
  readonly entries: List<Entry>
  /** Position of an entry in `entries`; shared between copies, so check it against `entries.length`. */
  readonly index: ReadonlyMap<string, number>
  /** Children of an entry (of the session itself under ''), in the order they were stored; shared like `index`. */
  readonly children: ReadonlyMap<string, List<string>>
  readonly head: string | null
  /** Entries from the root to the head. */
  readonly path: List<Entry>
}

export const emptyTree = (): Tree => ({ entries: emptyList(), index: new Map(), children: new Map(), head: null, path: emptyList() })

const keyOf = (parentId: string | null): string => parentId ?? ''

export function entryOf(tree: Tree, id: string): Entry | undefined {
  const position = tree.index.get(id)
  return position === undefined || position >= tree.entries.length ? undefined : tree.entries.items[position]
}

/** Adds an entry and makes it the head; the tree itself when the entry is known already. */
export function addEntry(tree: Tree, entry: Entry): Tree {
  if (entryOf(tree, entry.id)) return tree
  const newest = tree.entries.items.length === tree.entries.length
  const index = newest ? (tree.index as Map<string, number>) : new Map([...tree.index].filter(([, n]) => n < tree.entries.length))
  const children = newest ? (tree.children as Map<string, List<string>>) : childrenOf(tree.entries.items.slice(0, tree.entries.length))
  const entries = append(tree.entries, entry)
  index.set(entry.id, entries.length - 1)
  children.set(keyOf(entry.parentId), append(children.get(keyOf(entry.parentId)) ?? emptyList(), entry.id))
  const grown = { entries, index, children, head: entry.id }
  return { ...grown, path: entry.parentId === tree.head ? append(tree.path, entry) : listOf(pathTo(grown, entry.id)) }
}

function childrenOf(entries: readonly Entry[]): Map<string, List<string>> {
  const children = new Map<string, List<string>>()
  for (const e of entries) children.set(keyOf(e.parentId), append(children.get(keyOf(e.parentId)) ?? emptyList(), e.id))
  return children
}

/** The tree with its head elsewhere; the tree itself when `head` is no entry of it. */
export function moveHead(tree: Tree, head: string | null): Tree {
  if (head === tree.head || (head !== null && !entryOf(tree, head))) return tree
  return { ...tree, head, path: listOf(pathTo(tree, head)) }
}

/** Entries from the root down to `id`; empty for null and for an unknown id. */
export function pathTo(tree: Pick<Tree, 'entries' | 'index'>, id: string | null): Entry[] {
  const path: Entry[] = []
  for (let next = id; next !== null;) {
    const position = tree.index.get(next)
    const entry = position === undefined ? undefined : tree.entries.items[position]
    if (!entry) break
    path.push(entry)
    next = entry.parentId
  }
  return path.reverse()
}

/** Ids that share the parent of `id`, itself included, oldest first; empty for an unknown id. */
export function siblingsOf(tree: Tree, id: string): string[] {
  const entry = entryOf(tree, id)
  return entry ? (tree.children.get(keyOf(entry.parentId))?.items ?? []).filter((c) => entryOf(tree, c) !== undefined) : []
}

/** The newest leaf below `id` (following the newest child each time); `id` itself when nothing is below it. */
export function newestLeaf(tree: Tree, id: string): string {
  let leaf = id
  for (;;) {
    const below = (tree.children.get(leaf)?.items ?? []).filter((c) => entryOf(tree, c) !== undefined)
    const next = below.at(-1)
    if (next === undefined) return leaf
    leaf = next
  }
}
