// The difference between two texts, as a person reads it.
import { formatPatch, OMIT_HEADERS, structuredPatch } from 'diff'

/** Milliseconds that a difference may take, and characters that it may have; beyond them only sizes are told. */
const DIFF_MS = 1_500
const DIFF_CHARS = 400_000

/** `diff`: unified, without headers; missing when it would be too large. Lines are counted all the same. */
export function textDiff(before: string, after: string): { diff?: string; added: number; removed: number } {
  const patch = structuredPatch('', '', before, after, '', '', { context: 3, timeout: DIFF_MS })
  if (!patch) return { added: after.split('\n').length, removed: before.split('\n').length }
  const lines = patch.hunks.flatMap((h) => h.lines)
  const count = (sign: string): number => lines.filter((l) => l.startsWith(sign)).length
  const diff = patch.hunks.length > 0 ? formatPatch(patch, OMIT_HEADERS).trimEnd() : ''
  return { ...(diff.length <= DIFF_CHARS && { diff }), added: count('+'), removed: count('-') }
}
