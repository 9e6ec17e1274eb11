// Carries out a plan: what is there now is kept first, so that the undo can be undone; then path by path, each looked at again right before.
import { createHash, randomUUID } from 'node:crypto'
import { chmodSync, constants, lstatSync, mkdirSync, renameSync, rmdirSync, rmSync, symlinkSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import type { KeptCall, UndoStep } from '../../shared/undo'
import type { KeptRow } from '../store/tables/kept'
import { inFolderOf, type Place } from '../tools/files/place'
import { type Node, same } from './node'
import { lookAt, type Plan, type PlannedPath } from './plan'
import { readFile } from './scan'
import type { Shelf } from './shelf'

interface Carried {
  readonly kept?: KeptCall
  readonly steps: readonly UndoStep[]
  /** Ids of the calls that count as undone. */
  readonly undone: readonly string[]
}

/** Throws when what is there now cannot be kept: nothing was done then. */
export async function carryOut(plan: Plan, shelf: Shelf, now: () => number): Promise<Carried> {
  const { table, packs } = shelf
  const wanted = plan.paths.filter((p) => p.state === 'restore')
  const present = wanted.map((p) => ({ ...p, present: keepPresent(p, shelf) }))
  packs.flush()
  const row: KeptRow = {
    id: `kept_${randomUUID()}`,
    sessionId: plan.sessionId,
    runId: '',
    callId: '',
    tool: 'undo',
    workspace: plan.workspace,
    paths: wanted.map((p) => p.path),
    at: now(),
    isUndo: true,
    limits: []
  }
  shelf.write(() => {
    table.open(row)
    for (const p of present) shelf.setChange(row.id, { path: p.path, before: p.present, ended: false, added: 0, removed: 0 })
  })
  const states = new Map<string, UndoStep['state']>()
  for (const p of inOrder(present)) states.set(p.path, await bringBack(p, shelf))
  // what is in a folder changes its times and not its permissions, so those of folders come last
  for (const p of present) if (p.target?.kind === 'folder' && states.get(p.path) === 'restore') chmodQuietly(p.path, p.target.mode)

  const undone = plan.calls.map((call) => call.id)
  shelf.write(() => {
    for (const p of present) {
      const { added, removed } = plan.stepOf(p)
      if (states.get(p.path) === 'restore')
        shelf.setChange(row.id, { ...p, before: p.present, after: p.target, ended: true, added, removed })
      else table.dropChange(row.id, p.path)
    }
    table.close(row.id, [])
    for (const id of undone) {
      table.setUndoneBy(id, row.id)
      table.release(id) // what an undone undo had undone holds again
    }
  })
  return { kept: shelf.callOf(row), steps: plan.paths.map((p) => plan.stepOf(p, states.get(p.path))), undone }
}

/** The content of a file goes into a pack, unless it is there already. */
function keepPresent({ path, present }: PlannedPath, { packs }: Shelf): Node | undefined {
  if (present?.kind !== 'file') return present
  const read = readFile(path)
  if (!read) return present
  return { ...present, ...packs.put(read.bytes) }
}

/** What goes away first, the deepest first; then what comes, folders before what is in them. */
function inOrder(paths: readonly PlannedPath[]): PlannedPath[] {
  const depth = (p: PlannedPath): number => p.path.split('/').length
  const leaves = paths.filter(
    (p) => p.target === undefined || (p.present && p.present.kind !== p.target.kind && p.present.kind === 'folder')
  )
  const comes = paths.filter((p) => !leaves.includes(p))
  leaves.sort((a, b) => depth(b) - depth(a))
  comes.sort((a, b) => depth(a) - depth(b))
  return [...leaves, ...comes]
}

async function bringBack(p: PlannedPath, shelf: Shelf): Promise<UndoStep['state']> {
  const { path, target, present } = p
  if (!same(lookAt(path, present), present)) return 'changed_since'
  const content = target?.kind === 'file' ? contentOf(target, shelf) : undefined
  if (target?.kind === 'file' && !content) return 'not_kept'
  try {
    return await inFolderOf(placeOf(path), async (folder, name) => {
      const at = folder.at(name)
      if (present?.kind === 'folder' && target?.kind !== 'folder') rmdirSync(at)
      else if (present && target && present.kind !== target.kind) rmSync(at)
      if (!target) {
        if (present && present.kind !== 'folder') rmSync(at)
      } else if (target.kind === 'folder') {
        if (lstatSync(at, { throwIfNoEntry: false })?.isDirectory() !== true) mkdirSync(at, 0o700)
      } else if (target.kind === 'link') {
        const fresh = folder.at(`.tau-${randomUUID()}`)
        symlinkSync(target.target ?? '', fresh)
        renameSync(fresh, at)
      } else if (content) await write(folder.at(`.tau-${randomUUID()}`), at, content, target.mode)
      return 'restore' as const
    })
  } catch {
    return 'changed_since' // a folder that is not empty, a link in the way, no permission, no room: it stays as it is
  }
}

async function write(fresh: string, at: string, content: Buffer, mode: number): Promise<void> {
  try {
    const file = await open(fresh, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
    try {
      await file.writeFile(content)
      await file.chmod(mode)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(fresh, at)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw error
  }
}

/** What is kept of a file, when it is what it was. */
function contentOf({ pack, at, size, hash }: Node, { packs }: Shelf): Buffer | undefined {
  if (pack === undefined || at === undefined) return undefined
  const bytes = packs.read(pack, at, size)
  return bytes && createHash('sha256').update(bytes).digest('hex') === hash ? bytes : undefined
}

function chmodQuietly(path: string, mode: number): void {
  try {
    chmodSync(path, mode)
  } catch {
    // not ours to set: what is in it is what counts
  }
}

const placeOf = (path: string): Place => ({ path, name: path, exists: true, inside: true })
