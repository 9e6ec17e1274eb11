// A session is a tree: every entry points to its parent, `head` points to where the conversation is. Going back or branching only moves the
// head (spec S1). Pure walks over entries; each says what it returns when there is nothing to find.
//
// A tree may hold only a part of a long session: the newest entries of a path and the ids beside them. A walk ends where knowledge ends.
import type { Entry, MessageEntry } from './session'
import { append, emptyList, type List, listOf } from './list'

export interface Tree {
  /** Every known entry in the order it was stored. */
  readonly entries: List<Entry>
  /** Position of an entry in `entries`; shared between copies, so check it against `entries.length`. */
  readonly index: ReadonlyMap<string, number>
  /** Children of an entry (of the session itself under ''), in the order they were stored; shared like `index`. May name unknown entries. */
  readonly children: ReadonlyMap<string, List<string>>
  readonly head: string | null
  /** Known entries from the root to the head; begins later than the root when the older ones are not known. */
  readonly path: List<Entry>
}

export const emptyTree = (): Tree => ({ entries: emptyList(), index: new Map(), children: new Map(), head: null, path: emptyList() })

const keyOf = (parentId: string | null): string => parentId ?? ''

export function entryOf(tree: Tree, id: string): Entry | undefined {
  const position = tree.index.get(id)
  return position === undefined || position >= tree.entries.length ? undefined : tree.entries.items[position]
}

/** Adds an entry; the head follows when it was at its parent. The tree itself when the entry is known already. */
export function addEntry(tree: Tree, entry: Entry): Tree {
  if (entryOf(tree, entry.id)) return tree
  const newest = tree.entries.items.length === tree.entries.length
  const index = newest ? (tree.index as Map<string, number>) : new Map([...tree.index].filter(([, n]) => n < tree.entries.length))
  const children = newest ? (tree.children as Map<string, List<string>>) : childrenOf(tree.entries.items.slice(0, tree.entries.length))
  const entries = append(tree.entries, entry)
  index.set(entry.id, entries.length - 1)
  const key = keyOf(entry.parentId)
  const beside = children.get(key) ?? emptyList<string>()
  if (!beside.items.includes(entry.id, Math.max(0, beside.length - NEAR))) children.set(key, append(beside, entry.id))
  if (entry.parentId !== tree.head) return { entries, index, children, head: tree.head, path: tree.path }
  return { entries, index, children, head: entry.id, path: append(tree.path, entry) }
}

/** Ids that were named beside an entry before it became known stand at the end of their list; this far back is looked for them. */
const NEAR = 64

function childrenOf(entries: readonly Entry[]): Map<string, List<string>> {
  const children = new Map<string, List<string>>()
  for (const e of entries) children.set(keyOf(e.parentId), append(children.get(keyOf(e.parentId)) ?? emptyList(), e.id))
  return children
}

/** A tree of stored rows: `entries` with parents before children, `beside` the ids of further children (under '' those of the session). */
export function treeOf(entries: readonly Entry[], head: string | null, beside: Readonly<Record<string, readonly string[]>> = {}): Tree {
  const children = childrenOf(entries)
  for (const [parent, ids] of Object.entries(beside)) children.set(parent, listOf([...ids]))
  const index = new Map(entries.map((e, position) => [e.id, position]))
  const tree = { entries: listOf([...entries]), index, children, head: null, path: emptyList<Entry>() }
  return { ...tree, head, path: listOf(pathTo(tree, head)) }
}

/** The tree with its head elsewhere. The path is empty when `head` is not known: the caller then needs a fresh snapshot. */
export function moveHead(tree: Tree, head: string | null): Tree {
  return head === tree.head ? tree : { ...tree, head, path: listOf(pathTo(tree, head)) }
}

/** Known entries down to `id`; empty for null and for an unknown id. */
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
  const beside = entry && tree.children.get(keyOf(entry.parentId))
  return beside ? beside.items.slice(0, beside.length).filter((c) => (tree.index.get(c) ?? -1) < tree.entries.length) : []
}

/** An entry whose pointers to others (not to its parent) lead to their copies, where `copies` has one. */
export function repointed(entry: Entry, copies: ReadonlyMap<string, string>): Entry {
  const to = (id: string): string => copies.get(id) ?? id
  switch (entry.type) {
    case 'compaction':
      return { ...entry, keepsFrom: entry.keepsFrom === null ? null : to(entry.keepsFrom) }
    case 'branch_summary':
      return { ...entry, from: to(entry.from) }
    case 'edit':
      return { ...entry, targetId: to(entry.targetId) }
    default:
      return entry
  }
}

/** The messages among entries. */
export const messageEntries = (entries: readonly Entry[]): MessageEntry[] => entries.filter((e) => e.type === 'message')
