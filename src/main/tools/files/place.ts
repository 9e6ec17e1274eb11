// Where a tool may reach: the workspace, and what the decision gave it beyond. Links are followed before the decision, so a link that leads out is
// outside; and what was decided for one place is done in that very place, whatever was swapped meanwhile (design §3.12).
import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readlink, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { ToolOutput, ToolScope } from '../../loop/tool'

/** `path`: real and absolute. `name`: for people, relative to the workspace where it is inside, always with forward slashes. */
export interface Place {
  readonly path: string
  readonly name: string
  readonly exists: boolean
  readonly inside: boolean
}
export type Located = { readonly ok: true; readonly place: Place } | { readonly ok: false; readonly refusal: ToolOutput }

/**
 * The place of `path` (relative to the workspace, absolute, or from `~/`) when the call may use it so. One that does not exist yet counts by its
 * nearest existing folder. `itself`: a link is meant and not what it leads to.
 */
export async function locate(
  scope: Pick<ToolScope, 'workspace' | 'access'>,
  path: string,
  use: 'read' | 'write',
  itself = false
): Promise<Located> {
  const refuse = (code: string, text: string): Located => ({ ok: false, refusal: { code, text: `${text} Nothing was done.` } })
  if (path.includes('\0')) return refuse('bad_path', 'A path cannot hold a NUL character.')
  const root = await realpath(scope.workspace).catch(() => undefined)
  if (root === undefined) return refuse('not_found', `The workspace ${scope.workspace} does not exist any more.`)
  const { real, exists } = await (itself ? ownOf : realOf)(absolute(root, path))
  const inside = isInside(root, real)
  const { reads, writes } = scope.access
  const given = use === 'read' ? [...reads, ...writes] : writes
  if (!inside && !given.some((folder) => isInside(folder, real)))
    return refuse('outside_workspace', `${path} is outside the workspace ${root}, and this call was not allowed to go there.`)
  return { ok: true, place: { path: real, name: inside ? nameIn(root, real) : real, exists, inside } }
}

/** The real paths that an effect on `path` may change: what it leads to, and the link itself where it is one. */
export async function realPaths(workspace: string, path: string): Promise<string[]> {
  const root = await realpath(workspace).catch(() => workspace)
  const wanted = absolute(root, path)
  return [...new Set([(await realOf(wanted)).real, (await ownOf(wanted)).real])]
}

const absolute = (root: string, path: string): string => {
  if (path === '~' || path.startsWith('~/')) return join(homedir(), path.slice(1))
  return isAbsolute(path) ? resolve(path) : resolve(root, path)
}
const nameIn = (root: string, path: string): string => relative(root, path).split(sep).join('/') || '.'

const isInside = (root: string, path: string): boolean => {
  const way = relative(root, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

async function realOf(path: string): Promise<{ real: string; exists: boolean }> {
  try {
    return { real: await realpath(path), exists: true }
  } catch {
    const parent = dirname(path)
    if (parent === path) return { real: path, exists: false }
    // a link whose target is missing would be followed by whoever writes: judge it by where it points
    const link = await lstat(path).catch(() => undefined)
    if (link?.isSymbolicLink()) return realOf(resolve(parent, await readlink(path).catch(() => sep)))
    const up = await realOf(parent)
    return { real: join(up.real, basename(path)), exists: false }
  }
}

/** The path itself, in the real folder it is in. */
async function ownOf(path: string): Promise<{ real: string; exists: boolean }> {
  if (dirname(path) === path) return { real: path, exists: true }
  const real = join((await realOf(dirname(path))).real, basename(path))
  return { real, exists: (await lstat(real).catch(() => undefined)) !== undefined }
}

/** A folder that stays the one that was decided on: names in it are reached through its open handle where the system can do that. */
export interface HeldFolder {
  /** The path of a name in it. */
  at(name: string): string
}

/**
 * Opens the folder of `place`, made when it is missing, checks that it is still the same, and lets `work` use it. Throws an error with the code
 * ESWAPPED when a link was put in its way.
 */
export async function inFolderOf<T>(place: Place, work: (folder: HeldFolder, name: string) => Promise<T>): Promise<T> {
  const folder = dirname(place.path)
  await mkdir(folder, { recursive: true })
  const handle =
    process.platform === 'win32' ? undefined : await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    const real = await pathOf(handle, folder)
    if (real !== folder) throw swapped(place.name)
    const base = handle && process.platform === 'linux' ? `/proc/self/fd/${String(handle.fd)}` : folder
    return await work({ at: (name) => join(base, name) }, basename(place.path))
  } finally {
    await handle?.close()
  }
}

/** Opens a file to read, and no other than the one that was decided on. Throws as above, and what `open` throws. */
export async function openToRead(place: Place): Promise<FileHandle> {
  // a pipe would wait for a writer for ever
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW || 0) | (constants.O_NONBLOCK || 0)
  const handle = await open(place.path, flags)
  if ((await pathOf(handle, place.path)) === place.path) return handle
  await handle.close()
  throw swapped(place.name)
}

/** Where an open file or folder really is; elsewhere than on Linux, where its path leads now. */
const pathOf = (handle: FileHandle | undefined, path: string): Promise<string> =>
  handle && process.platform === 'linux' ? readlink(`/proc/self/fd/${String(handle.fd)}`) : realpath(path)

const swapped = (name: string): Error =>
  Object.assign(new Error(`${name} does not lead where it led a moment ago. Nothing was done.`), { code: 'ESWAPPED' })
