// What a path held at one moment.
import type { PathKind } from '../../shared/undo'

export interface Node {
  readonly kind: Exclude<PathKind, 'absent'>
  /** Permission bits. */
  readonly mode: number
  /** Bytes of a file. */
  readonly size: number
  /** Milliseconds since 1970, with fractions. */
  readonly mtime: number
  readonly ctime: number
  readonly ino: number
  /** SHA-256 of a file's bytes. Undefined: they were not read. */
  readonly hash?: string
  /** Where a file's bytes are kept. Undefined: they are not. */
  readonly pack?: number
  readonly at?: number
  /** Where a link points. */
  readonly target?: string
}

/** Whether two looks at a path saw the same thing. Of a file that was not read its times and size decide. */
export function same(a: Node | undefined, b: Node | undefined): boolean {
  if (!a || !b) return a === b
  if (a.kind !== b.kind || a.mode !== b.mode || a.target !== b.target) return false
  if (a.kind !== 'file') return true
  if (a.hash !== undefined && b.hash !== undefined) return a.hash === b.hash
  return unmoved(a, b)
}

/** Whether the system says that a file was not touched between two looks. */
export const unmoved = (a: Node, b: Node): boolean =>
  a.kind === b.kind && a.size === b.size && a.mtime === b.mtime && a.ctime === b.ctime && a.ino === b.ino && a.mode === b.mode
