// Where a path really leads (design §3.12): links are followed as far as there is something, so that a decision is about the place itself.
import { lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

/** The real path of something that need not exist: its nearest existing folder counts. */
export function realPath(path: string, links = 0): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    if (parent === path) return path
    if (links < 40 && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
      try {
        return realPath(resolve(parent, readlinkSync(path)), links + 1)
      } catch {
        return path
      }
    }
    return join(realPath(parent, links), basename(path))
  }
}

/** Absolute: `~` is the home folder, the rest is relative to `cwd`. */
export const absolutePath = (path: string, cwd: string, home: string): string =>
  path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : isAbsolute(path) ? resolve(path) : resolve(cwd, path)

export const isInside = (folder: string, path: string): boolean => {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

/** Names in a folder; none when it cannot be read. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
