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
