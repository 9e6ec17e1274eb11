// Text that must be seen as it is: invisible characters, marks that reorder a line, and long gaps become visible pieces (cases: the
// command shown for approval is not the command that runs).
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  /** One character that cannot be seen, by its name in Unicode: `U+202E`. */
  | { readonly kind: 'mark'; readonly name: string }
  /** Spaces in a row, more than anybody would type. */
  | { readonly kind: 'gap'; readonly count: number }

// Controls, formatting marks, separators and everything that Unicode lets a font leave out; not tab and line feed, and not what holds an
// emoji together.
const UNSEEN =
  /(?!\t|\n|\ufe0e|\ufe0f|(?<=\p{Extended_Pictographic}|\ufe0f|\p{Emoji_Modifier})\u200d)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/u
const ODD = new RegExp(`${UNSEEN.source}| {24,}`, 'gu')

export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = []
  let done = 0
  for (const match of text.matchAll(ODD)) {
    if (match.index > done) pieces.push({ kind: 'text', text: text.slice(done, match.index) })
    const found = match[0]
    pieces.push(found.startsWith(' ') ? { kind: 'gap', count: found.length } : { kind: 'mark', name: nameOf(found) })
    done = match.index + found.length
  }
  if (done < text.length) pieces.push({ kind: 'text', text: text.slice(done) })
  return pieces
}

const nameOf = (character: string): string => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** True when something in `text` cannot be seen. The carriage return of an ordinary line end does not count. */
export const hasUnseen = (text: string): boolean => UNSEEN.test(text.replaceAll('\r\n', '\n'))

/** True when one word mixes Latin with look-alikes from Cyrillic or Greek. */
export const mixesScripts = (text: string): boolean =>
  text.split(/[\s/\\"'`]+/u).some((word) => /\p{Script=Latin}/u.test(word) && /[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(word))

/** The text with the names of unseen characters in their places, where only plain text can be shown. */
export const visibleOf = (text: string): string =>
  piecesOf(text)
    .map((p) => (p.kind === 'text' ? p.text : p.kind === 'mark' ? `[${p.name}]` : ' '.repeat(3)))
    .join('')
