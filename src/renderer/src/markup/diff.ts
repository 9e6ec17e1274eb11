// A unified diff as lines with their numbers. Nothing is left out: what does not look like a diff is kept as a note.
export interface DiffLine {
  readonly kind: 'add' | 'remove' | 'same' | 'hunk' | 'note'
  readonly text: string
  readonly old?: number
  readonly new?: number
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

export function linesOf(diff: string): DiffLine[] {
  if (diff === '') return []
  const lines: DiffLine[] = []
  let before = 1
  let after = 1
  for (const raw of (diff.endsWith('\n') ? diff.slice(0, -1) : diff).split('\n')) {
    const hunk = HUNK.exec(raw)
    const text = raw.slice(1)
    if (hunk) {
      before = Number(hunk[1])
      after = Number(hunk[3])
      lines.push({ kind: 'hunk', text: raw })
    } else if (raw.startsWith('+')) lines.push({ kind: 'add', text, new: after++ })
    else if (raw.startsWith('-')) lines.push({ kind: 'remove', text, old: before++ })
    else if (raw.startsWith(' ')) lines.push({ kind: 'same', text, old: before++, new: after++ })
    else lines.push({ kind: 'note', text: raw })
  }
  return lines
}

/** A row to draw: a line, or unchanged lines that are folded away (`from`: number of the first one in the list of lines). */
export type DiffRow = DiffLine | { readonly kind: 'fold'; readonly from: number; readonly count: number }

const isChange = (line: DiffLine | undefined): boolean => line?.kind === 'add' || line?.kind === 'remove'

/** Unchanged lines that stay beside a change. */
const BESIDE = 3
/** A fold takes a row itself, so few lines are not worth one. */
const WORTH = 4

/** Lines as rows, long runs of unchanged ones folded, save those that begin at a number in `open`. Only unchanged lines are ever folded. */
export function rowsOf(lines: readonly DiffLine[], open: ReadonlySet<number>): DiffRow[] {
  const rows: DiffRow[] = []
  for (let i = 0; i < lines.length;) {
    let end = i
    while (lines[end]?.kind === 'same') end++
    if (end === i) {
      rows.push(...lines.slice(i, ++end))
    } else {
      const from = isChange(lines[i - 1]) ? i + BESIDE : i
      const to = isChange(lines[end]) ? end - BESIDE : end
      if (to - from < WORTH || open.has(from)) rows.push(...lines.slice(i, end))
      else rows.push(...lines.slice(i, from), { kind: 'fold', from, count: to - from }, ...lines.slice(to, end))
    }
    i = end
  }
  return rows
}
