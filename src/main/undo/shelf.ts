// The rows and packs behind undo: what a kept call changed, and what a folder held at the last look.
import type { KeptCall, PathChange } from '../../shared/undo'
import type { ChangeRow, KeptRow, KeptTable } from '../store/tables/kept'
import type { Node } from './node'
import type { Packs } from './packs'

/** What a call did to one path. */
export interface Change {
  readonly path: string
  readonly before: Node | undefined
  readonly after: Node | undefined
  readonly added: number
  readonly removed: number
}

/** The part of the store that undo uses. */
export interface KeptStore {
  readonly kept: KeptTable
  write<T>(work: () => T): T
}

export interface Shelf {
  readonly packs: Packs
  readonly table: KeptTable
  write<T>(work: () => T): T
  /** Of a call whose effect has ended. */
  changesOf(keptId: string): Change[]
  setChange(keptId: string, change: Omit<Change, 'after'> & { after?: Node | undefined; ended: boolean }): void
  /** What a folder held when it was last looked through. */
  seenIn(root: string, at: number): Map<string, Node>
  /** Stores what is different from `old`; in pieces, so that nothing else waits long. */
  setSeen(root: string, at: number, old: ReadonlyMap<string, Node>, now: ReadonlyMap<string, Node>): Promise<void>
  /** Drops what memory holds of a folder, or of all. */
  forget(root?: string): void
  callOf(row: KeptRow): KeptCall
}

/** Rows written in one go: about 10 ms. */
const PIECE = 2_000
/** Folders whose last look is held in memory. */
const ROOTS_IN_MEMORY = 3

export function openShelf(store: KeptStore, packs: Packs): Shelf {
  const { kept: table } = store
  const memory = new Map<string, Map<string, Node>>()

  function remember(root: string, nodes: Map<string, Node>): void {
    memory.delete(root)
    memory.set(root, nodes)
    for (const oldest of memory.keys()) if (memory.size > ROOTS_IN_MEMORY) memory.delete(oldest)
  }

  const toChange = ({ path, before, after, added, removed }: ChangeRow): Change => ({
    path,
    before: nodeOf(before),
    after: after === null ? undefined : nodeOf(after),
    added,
    removed
  })

  return {
    packs,
    table,
    write: (work) => store.write(work),
    changesOf: (keptId) => table.changes(keptId).map(toChange),
    setChange(keptId, { path, before, after, ended, added, removed }) {
      const text = (node: Node | undefined): string => JSON.stringify(node ?? null)
      table.setChange(keptId, { path, before: text(before), after: ended ? text(after) : null, pack: before?.pack ?? null, added, removed })
    },
    seenIn(root, at) {
      const known = memory.get(root)
      if (known) return known
      const nodes = new Map<string, Node>()
      for (const { path, node } of table.seen(table.root(root, at))) {
        const read = nodeOf(node)
        if (read) nodes.set(path, read)
      }
      remember(root, nodes)
      return nodes
    },
    async setSeen(root, at, old, now) {
      const id = table.root(root, at)
      const gone = [...old.keys()].filter((path) => !now.has(path))
      const fresh = [...now].filter(([path, node]) => old.get(path) !== node && !alike(old.get(path), node))
      for (let i = 0; i < Math.max(gone.length, fresh.length); i += PIECE) {
        store.write(() => {
          for (const path of gone.slice(i, i + PIECE)) table.dropSeen(id, path)
          for (const [path, node] of fresh.slice(i, i + PIECE))
            table.setSeen(id, { path, node: JSON.stringify(node), pack: node.pack ?? null })
        })
        await new Promise(setImmediate)
      }
      remember(root, new Map(now))
    },
    forget(root) {
      if (root === undefined) memory.clear()
      else memory.delete(root)
    },
    callOf: ({ paths: _paths, limits, ...row }) => ({
      ...row,
      limits: [...limits],
      changes: table
        .changes(row.id)
        .map(toChange)
        .map((change) => pictureOf(row.workspace, change))
    })
  }
}

const nodeOf = (text: string): Node | undefined => (JSON.parse(text) as Node | null) ?? undefined

const alike = (a: Node | undefined, b: Node): boolean => a !== undefined && JSON.stringify(a) === JSON.stringify(b)

/** A change for people: relative to the workspace where it is inside. */
export const pictureOf = (workspace: string, { path, before, after, added, removed }: Change): Omit<PathChange, 'diff'> => ({
  path: nameIn(workspace, path),
  before: before?.kind ?? 'absent',
  after: after?.kind ?? 'absent',
  added,
  removed,
  bytesBefore: bytesOf(before),
  bytesAfter: bytesOf(after)
})

const bytesOf = (node: Node | undefined): number => (node?.kind === 'file' ? node.size : 0)

const nameIn = (workspace: string, path: string): string => {
  if (path === workspace) return '.'
  return path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path
}
