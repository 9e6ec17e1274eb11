// Looks through a folder and remembers what it holds. A file that was not touched since the last look is not read again.
import { createHash } from 'node:crypto'
import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readdirSync, readlinkSync, readSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { type Node, unmoved } from './node'

export interface ScanLimits {
  /** Bytes of one file whose content is kept. */
  readonly fileBytes: number
  /** Bytes of all contents of one look. */
  readonly totalBytes: number
  /** Paths of one look; what comes after them is not compared. */
  readonly paths: number
}
export interface Scan {
  /** By absolute path; the roots themselves included, where they exist. */
  readonly nodes: Map<string, Node>
  /** What was left out, in words for a person. */
  readonly limits: string[]
}

/** Keeps the bytes of a file; throws when it cannot. */
export type Put = (bytes: Buffer) => { pack: number; at: number }

/** How long the loop of the process is held at a time: a stream of words goes on meanwhile. */
const SLICE_MS = 8
/** A file that was changed so short a time before it was read may change again with the same times: it is read again at the next look. */
const RACY_MS = 50

/**
 * `known`: what the last look saw. Links are not followed, devices, sockets and pipes are not opened. Never throws: what cannot be looked at is
 * left out and said. `room`: bytes that may be newly kept.
 */
export async function scan(
  roots: readonly string[],
  known: ReadonlyMap<string, Node>,
  put: Put,
  limits: ScanLimits,
  room = Infinity
): Promise<Scan> {
  const nodes = new Map<string, Node>()
  const left = { large: 0, unread: 0, heavy: new Set<string>(), names: 0, total: false, paths: false, put: '' }
  const stack = [...roots]
  let bytes = 0
  let fresh = 0
  let since = performance.now()

  const contentOf = (path: string, info: Stats): Node | undefined => {
    const old = known.get(path)
    const plain = nodeOf('file', info)
    const counts = old?.hash !== undefined && old.pack !== undefined && unmoved(old, plain)
    if (info.size > limits.fileBytes) left.large++
    else if (bytes + info.size > limits.totalBytes) left.total = true
    else {
      bytes += info.size
      if (counts) return old
      const read = readFile(path, info)
      if (!read) left.unread++
      else {
        const hash = createHash('sha256').update(read.bytes).digest('hex')
        const node = { ...nodeOf('file', read.info), hash, ...(Date.now() - read.info.ctimeMs < RACY_MS && { ctime: -1 }) }
        if (left.put === '' && fresh + read.bytes.length > room) left.put = 'the disk has too little room.'
        if (left.put !== '') return node
        try {
          fresh += read.bytes.length
          return { ...node, ...put(read.bytes) }
        } catch (error) {
          left.put = error instanceof Error ? error.message : String(error)
          return node
        }
      }
    }
    return plain
  }

  for (let path = stack.pop(); path !== undefined; path = stack.pop()) {
    if (performance.now() - since > SLICE_MS) {
      await new Promise(setImmediate)
      since = performance.now()
    }
    if (nodes.size >= limits.paths) {
      left.paths = true
      break
    }
    const info = look(path)
    if (!info) continue
    if (info.isFile()) nodes.set(path, contentOf(path, info) ?? nodeOf('file', info))
    else if (info.isSymbolicLink()) nodes.set(path, { ...nodeOf('link', info), mode: 0, target: readLink(path) })
    else if (!info.isDirectory()) nodes.set(path, nodeOf('other', info))
    else {
      nodes.set(path, { ...nodeOf('folder', info), mtime: 0, ctime: 0, size: 0 })
      const heavy = heavyName(path)
      if (heavy !== undefined) {
        left.heavy.add(heavy)
        continue
      }
      for (const name of namesIn(path)) {
        // the system gave bytes that are no text: there is no way back to them from this name
        if (name.includes('\ufffd') && !look(join(path, name))) left.names++
        else stack.push(join(path, name))
      }
    }
  }
  return { nodes, limits: wordsOf(left, limits) }
}

const nodeOf = (kind: Node['kind'], { mode, size, mtimeMs, ctimeMs, ino }: Stats): Node => ({
  kind,
  mode: mode & 0o7777,
  size,
  mtime: mtimeMs,
  ctime: ctimeMs,
  ino
})

/** Folders that programs fill and can fill again, and git's own: what changes in them is neither kept nor undone. */
function heavyName(folder: string): string | undefined {
  const name = folder.slice(folder.lastIndexOf('/') + 1)
  if (name === '.git' || name === 'node_modules') return name
  if (existsSync(join(folder, 'pyvenv.cfg')) || existsSync(join(folder, 'CACHEDIR.TAG'))) return name
  return undefined
}

function wordsOf(
  left: { large: number; unread: number; heavy: Set<string>; names: number; total: boolean; paths: boolean; put: string },
  limits: ScanLimits
): string[] {
  const mb = (bytes: number): string => `${String(Math.round(bytes / 1_000_000))} MB`
  const says: [boolean, string][] = [
    [left.heavy.size > 0, `What is in ${[...left.heavy].sort().join(', ')} was not kept.`],
    [left.large > 0, `${String(left.large)} files of more than ${mb(limits.fileBytes)} were not kept.`],
    [left.total, `Contents of more than ${mb(limits.totalBytes)} in all were not kept.`],
    [left.paths, `Only the first ${String(limits.paths)} paths were compared.`],
    [left.unread > 0, `${String(left.unread)} files could not be read.`],
    [left.names > 0, `${String(left.names)} names are not valid text.`],
    [left.put !== '', `Contents could not be kept: ${left.put}`]
  ]
  return says.filter(([is]) => is).map(([, words]) => words)
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    return undefined
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** The bytes of a file as they were at one moment; undefined when it cannot be read or does not keep still. */
export function readFile(path: string, expected?: Stats): { bytes: Buffer; info: Stats } | undefined {
  for (let attempt = 0; attempt < 3; attempt++) {
    let file: number | undefined
    try {
      file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW || 0) | (constants.O_NONBLOCK || 0))
      const info = attempt === 0 && expected ? expected : fstatSync(file)
      if (!info.isFile()) return undefined
      const bytes = Buffer.allocUnsafe(info.size)
      let done = 0
      for (let n = -1; done < info.size && n !== 0; done += n) n = readSync(file, bytes, done, info.size - done, done)
      const after = fstatSync(file)
      if (done === info.size && after.size === info.size && after.mtimeMs === info.mtimeMs && after.ino === info.ino) return { bytes, info }
    } catch {
      return undefined
    } finally {
      if (file !== undefined) closeSync(file)
    }
  }
  return undefined
}
