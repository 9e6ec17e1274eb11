// Marks that a tool leaves where it cut its output: `[cut: 300 more lines; …]` and `[… 12 more characters]`.
const CUT = /\[(?:cut: |… )[^[\]\n]{1,300}\]/g

export interface CutPiece {
  readonly text: string
  /** It is a mark of the tool, or looks like one. */
  readonly cut: boolean
}

/** `text` in pieces, in order and whole. */
export function cutsOf(text: string): CutPiece[] {
  const pieces: CutPiece[] = []
  let done = 0
  for (const match of text.matchAll(CUT)) {
    if (match.index > done) pieces.push({ text: text.slice(done, match.index), cut: false })
    pieces.push({ text: match[0], cut: true })
    done = match.index + match[0].length
  }
  if (done < text.length) pieces.push({ text: text.slice(done), cut: false })
  return pieces
}
