// What undoing some kept calls would do to each path: pure looking, nothing is changed.
import { createHash, randomUUID } from 'node:crypto'
import { lstatSync, readlinkSync } from 'node:fs'
import type { KeptCall, UndoPlan, UndoStep } from '../../shared/undo'
import type { KeptRow } from '../store/tables/kept'
import { textDiff } from '../tools/files/diff'
import { textOf, textOfBytes } from './keep'
import { type Node, same } from './node'
import { readFile } from './scan'
import { type Change, pictureOf, type Shelf } from './shelf'

/** One path of a plan. */
export interface PlannedPath {
  readonly path: string
  readonly state: UndoStep['state']
  /** What it held before the first of the calls, and comes back. */
  readonly target: Node | undefined
  /** What is there now. */
  readonly present: Node | undefined
}
export interface Plan {
  readonly workspace: string
  readonly sessionId: string
  readonly calls: readonly KeptRow[]
  readonly paths: readonly PlannedPath[]
  /** The step of a path as it was shown, with another state if it came out otherwise. */
  stepOf(path: PlannedPath, state?: UndoStep['state']): UndoStep
}

/** Plans that were shown and not carried out. */
const MAX_PLANS = 50
/** Files whose difference is shown; the others are told by their size. */
const MAX_DIFFS = 300

export function createPlans(shelf: Shelf) {
  const plans = new Map<string, Plan>()

  /** Net effect of the calls, newest first, on each path. A path between two of them that somebody else changed cannot be brought back. */
  function netOf(calls: readonly KeptRow[]): Map<string, { target: Node | undefined; expected: Node | undefined; broken: boolean }> {
    const net = new Map<string, { target: Node | undefined; expected: Node | undefined; broken: boolean }>()
    for (const call of calls) {
      for (const { path, before, after } of shelf.changesOf(call.id)) {
        const newer = net.get(path)
        if (!newer) net.set(path, { target: before, expected: after, broken: false })
        else net.set(path, { ...newer, target: before, broken: newer.broken || !same(newer.target, after) })
      }
    }
    return net
  }

  function stateOf(target: Node | undefined, expected: Node | undefined, present: Node | undefined, broken: boolean): UndoStep['state'] {
    if (same(present, target)) return 'nothing'
    if (broken || !same(present, expected)) return 'changed_since'
    if (target?.kind === 'other' || present?.kind === 'other') return 'not_kept'
    if (target?.kind === 'file' && (target.pack === undefined || target.hash === undefined)) return 'not_kept'
    return 'restore'
  }

  return {
    make(ids: readonly string[]): Promise<UndoPlan> {
      const calls = shelf.table.find(ids).filter((call) => call.undoneBy === undefined)
      const paths: PlannedPath[] = []
      for (const [path, { target, expected, broken }] of netOf(calls)) {
        const present = lookAt(path, expected)
        paths.push({ path, target, present, state: stateOf(target, expected, present, broken) })
      }
      paths.sort((a, b) => (a.path < b.path ? -1 : 1))
      const workspace = calls[0]?.workspace ?? ''
      const steps = new Map(paths.map((p, i) => [p.path, pictureOfStep(workspace, p, shelf, i < MAX_DIFFS)]))
      const stepOf = (path: PlannedPath, state = path.state): UndoStep => ({ ...(steps.get(path.path) as UndoStep), state })
      const token = `${createHash('sha256').update(JSON.stringify(paths)).digest('hex').slice(0, 16)}-${randomUUID()}`
      plans.set(token, { workspace, sessionId: calls[0]?.sessionId ?? '', calls, paths, stepOf })
      for (const oldest of plans.keys()) if (plans.size > MAX_PLANS) plans.delete(oldest)
      const shown: KeptCall[] = calls.map((call) => shelf.callOf(call))
      return Promise.resolve({ token, calls: shown, steps: paths.map((p) => stepOf(p)) })
    },
    /** A plan can be carried out once. */
    take(token: string): Plan | undefined {
      const plan = plans.get(token)
      plans.delete(token)
      return plan
    }
  }
}

/** What a path holds now; of a file whose content was not read before, times and size only. */
export function lookAt(path: string, expected: Node | undefined): Node | undefined {
  try {
    const info = lstatSync(path)
    const common = { mode: info.mode & 0o7777, size: info.size, mtime: info.mtimeMs, ctime: info.ctimeMs, ino: info.ino }
    if (info.isDirectory()) return { ...common, kind: 'folder' }
    if (info.isSymbolicLink()) return { ...common, kind: 'link', mode: 0, target: readlinkSync(path) }
    if (!info.isFile()) return { ...common, kind: 'other' }
    if (expected?.kind === 'file' && expected.hash === undefined) return { ...common, kind: 'file' }
    const read = readFile(path)
    return { ...common, kind: 'file', ...(read && { hash: createHash('sha256').update(read.bytes).digest('hex') }) }
  } catch {
    return undefined
  }
}

function pictureOfStep(workspace: string, { path, state, present, target }: PlannedPath, { packs }: Shelf, withDiff: boolean): UndoStep {
  const shown: Change = { path, before: present, after: target, added: 0, removed: 0 }
  const step = { ...pictureOf(workspace, shown), state }
  if (state !== 'restore' || !withDiff) return step
  const old = present?.kind === 'file' ? textNow(path) : ''
  const fresh = textOf(target, packs)
  if (old === undefined || fresh === undefined || (old === '' && fresh === '')) return step
  return { ...step, ...textDiff(old, fresh) }
}

function textNow(path: string): string | undefined {
  const read = readFile(path)
  return read && read.bytes.length <= 1_000_000 ? textOfBytes(read.bytes) : undefined
}
