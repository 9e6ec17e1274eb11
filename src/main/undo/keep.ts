// Around an effect: what is there before it is kept and stored, and when it is over, what it changed is found by comparing (spec T8).
import { randomUUID } from 'node:crypto'
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { KeptCall } from '../../shared/undo'
import type { KeptRow } from '../store/tables/kept'
import { textDiff } from '../tools/files/diff'
import { type Node, same } from './node'
import type { Packs } from './packs'
import { type Scan, scan, type ScanLimits } from './scan'
import type { Change, Shelf } from './shelf'

export interface KeptCallScope {
  readonly sessionId: string
  readonly runId: string
  readonly callId: string
  readonly tool: string
  readonly workspace: string
  /** Absolute real paths, or everything in the workspace. */
  readonly scope: readonly string[] | 'workspace'
}
export interface Kept {
  /** The effect is over. Undefined: it changed nothing. Never throws. */
  after(): Promise<KeptCall | undefined>
}

/** Text beyond this is not compared line by line. */
const MAX_COUNTED_BYTES = 1_000_000
/** Files that are compared line by line; the others are told by their size. */
const MAX_COUNTED_FILES = 200

/** `room`: bytes that may be kept before the disk gets too full for what else must be stored. */
export function createKeeping(shelf: Shelf, limits: ScanLimits, now: () => number, room: () => number) {
  const { table, packs } = shelf
  const put = (bytes: Buffer): { pack: number; at: number } => packs.put(bytes)

  /** Looks through the scope of a call; of a workspace it is remembered for the next look. */
  async function lookThrough(row: Pick<KeptRow, 'workspace' | 'paths'>): Promise<Scan> {
    if (row.paths) return scan(row.paths, EMPTY, put, limits, room())
    const known = shelf.seenIn(row.workspace, now())
    const seen = await scan([row.workspace], known, put, limits, room())
    packs.flush() // the rows must not name what is not there
    await shelf.setSeen(row.workspace, now(), known, seen.nodes)
    return seen
  }

  async function before(call: KeptCallScope): Promise<Kept> {
    const workspace = realOf(call.workspace)
    const { sessionId, runId, callId, tool, scope } = call
    const paths = scope === 'workspace' ? undefined : [...scope]
    const id = `kept_${randomUUID()}`
    const git = paths ? '' : gitOf(workspace)
    const there = await lookThrough({ workspace, ...(paths && { paths }) })
    packs.flush()
    const row: KeptRow = {
      id,
      sessionId,
      runId,
      callId,
      tool,
      workspace,
      ...(paths && { paths }),
      at: now(),
      isUndo: false,
      limits: there.limits
    }
    shelf.write(() => {
      table.open(row)
      // of a workspace the last look stands for them
      if (paths) for (const [path, node] of there.nodes) shelf.setChange(id, { path, before: node, ended: false, added: 0, removed: 0 })
    })
    return { after: () => end(row, there.nodes, git) }
  }

  async function end(row: KeptRow, before: ReadonlyMap<string, Node>, git: string | undefined): Promise<KeptCall | undefined> {
    const after = await lookThrough(row)
    const changes = compare(before, after.nodes, packs)
    const said = new Set([...row.limits, ...after.limits])
    if (git !== undefined && !row.paths && gitOf(row.workspace) !== git) said.add(GIT_CHANGED)
    if (changes.length === 0 && !said.has(GIT_CHANGED)) {
      table.remove(row.id)
      return undefined
    }
    const changed = new Set(changes.map((c) => c.path))
    shelf.write(() => {
      if (row.paths) for (const path of before.keys()) if (!changed.has(path)) table.dropChange(row.id, path)
      for (const change of changes) shelf.setChange(row.id, { ...change, ended: true })
      table.close(row.id, [...said])
    })
    return shelf.callOf({ ...row, limits: [...said] })
  }

  return {
    before,
    /** Ends what a killed process left open, by what is there now. Never throws. */
    async recover(failed: (error: unknown) => void): Promise<KeptCall[]> {
      const ended: KeptCall[] = []
      for (const row of table.opened()) {
        try {
          const before = row.paths
            ? new Map(shelf.changesOf(row.id).flatMap(({ path, before: node }) => (node ? [[path, node] as const] : [])))
            : new Map(shelf.seenIn(row.workspace, row.at))
          const call = await end(row, before, undefined)
          if (call) ended.push(call)
        } catch (error) {
          failed(error)
        }
      }
      return ended
    }
  }
}

const EMPTY: ReadonlyMap<string, Node> = new Map()
const GIT_CHANGED = 'It changed what git keeps: undo leaves git’s history and index alone.'

function compare(before: ReadonlyMap<string, Node>, after: ReadonlyMap<string, Node>, packs: Packs): Change[] {
  const changes: Change[] = []
  let counted = 0
  const see = (path: string): void => {
    const [old, fresh] = [before.get(path), after.get(path)]
    if (same(old, fresh)) return
    const lines = counted++ < MAX_COUNTED_FILES ? countLines(old, fresh, packs) : { added: 0, removed: 0 }
    changes.push({ path, before: old, after: fresh, ...lines })
  }
  for (const path of before.keys()) see(path)
  for (const path of after.keys()) if (!before.has(path)) see(path)
  return changes
}

function countLines(before: Node | undefined, after: Node | undefined, packs: Packs): { added: number; removed: number } {
  const [old, fresh] = [textOf(before, packs), textOf(after, packs)]
  if (old === undefined || fresh === undefined) return { added: 0, removed: 0 }
  const { added, removed } = textDiff(old, fresh)
  return { added, removed }
}

/** The text that a node holds; nothing for what is no file; undefined when it is not text, too long, or not kept. */
export function textOf(node: Node | undefined, packs: Packs): string | undefined {
  if (node?.kind !== 'file') return ''
  if (node.pack === undefined || node.at === undefined || node.size > MAX_COUNTED_BYTES) return undefined
  const bytes = packs.read(node.pack, node.at, node.size)
  return bytes && textOfBytes(bytes)
}

/** Undefined: it is no text in UTF-8. */
export function textOfBytes(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** What tells that git's history or index was changed. */
function gitOf(workspace: string): string {
  const part = (name: string): string => {
    try {
      const { size, mtimeMs } = statSync(join(workspace, '.git', name))
      return `${String(size)} ${String(mtimeMs)}`
    } catch {
      return ''
    }
  }
  const head = (): string => {
    try {
      return readFileSync(join(workspace, '.git/HEAD'), 'utf8')
    } catch {
      return ''
    }
  }
  return [head(), part('logs/HEAD'), part('packed-refs'), part('refs/heads')].join('\n')
}

function realOf(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}
