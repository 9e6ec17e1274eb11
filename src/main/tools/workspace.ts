// Where a tool may reach: the workspace and nothing else. Links are followed before the decision, so a link that leads out is outside.
import { lstat, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

export type Place = { ok: true; path: string; exists: boolean } | { ok: false; code: 'outside_workspace' | 'not_found'; reason: string }

/** The real absolute path of `path` (relative to the workspace, or absolute inside it). A file that does not exist yet counts by its nearest existing folder. */
export async function locate(workspace: string, path: string): Promise<Place> {
  const root = await realpath(workspace).catch(() => undefined)
  if (root === undefined) return { ok: false, code: 'not_found', reason: `The workspace ${workspace} does not exist any more.` }
  const wanted = isAbsolute(path) ? resolve(path) : resolve(root, path)
  const { real, exists } = await realOf(wanted)
  if (!isInside(root, real)) {
    return { ok: false, code: 'outside_workspace', reason: `${path} is outside the workspace ${root}. Only files inside it can be used.` }
  }
  return { ok: true, path: real, exists }
}

/** Path for people: relative to the workspace, `.` for the workspace itself, always with forward slashes. */
export async function shorten(workspace: string, path: string): Promise<string> {
  const root = await realpath(workspace).catch(() => workspace)
  return relative(root, path).split(sep).join('/') || '.'
}

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
    if (link?.isSymbolicLink()) return { real: sep, exists: false }
    const up = await realOf(parent)
    return { real: join(up.real, basename(path)), exists: false }
  }
}
