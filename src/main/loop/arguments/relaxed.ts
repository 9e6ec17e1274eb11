// Reads JSON as models write it (bare keys, single quotes, comments, Python's words) to tell what may be repaired from what would be a guess.
// The repair itself is jsonrepair's; left alone, that one also closes texts that were cut, fills in missing values and drops backslashes.

export type Relaxed =
  /** `text`: what may be repaired. */
  | { readonly ok: true; readonly text: string }
  /** Cut: the text ends in the middle. `closed`: the text with its last brace, where that is all it lacks. */
  | { readonly ok: false; readonly why: 'cut'; readonly closed?: string }
  | { readonly ok: false; readonly why: 'ambiguous'; readonly reason: string }

/** How deep arguments may nest: validators recurse. */
export const MAX_DEPTH = 100

interface Frame {
  readonly kind: '{' | '['
  expect: 'key' | 'colon' | 'value' | 'comma'
}

/** Reads one object or list. What stands behind it must mean nothing: spare brackets, a semicolon, a tag. */
export function readRelaxed(source: string): Relaxed {
  const frames: Frame[] = []
  const patches: string[] = []
  let copied = 0
  let lastSafe = false // whether the last token cannot be the beginning of a longer one
  let at = 0

  const ambiguous = (reason: string): Relaxed => ({ ok: false, why: 'ambiguous', reason })
  const valueDone = (): void => {
    const frame = frames.at(-1)
    if (frame) frame.expect = frame.expect === 'key' ? 'colon' : 'comma'
  }
  /** Whether a word or string may stand here; a comma that was forgotten between two fields counts as there. */
  const mayHoldWord = (): boolean => {
    const frame = frames.at(-1)
    if (!frame || frame.expect === 'colon') return false
    if (frame.expect !== 'comma') return true
    if (frame.kind === '[') return false
    frame.expect = 'key'
    return true
  }

  while (at < source.length) {
    const frame = frames.at(-1)
    const c = source.charAt(at)
    if (/\s/.test(c)) {
      at++
    } else if (source.startsWith('//', at) || source.startsWith('/*', at)) {
      const block = source[at + 1] === '*'
      const end = source.indexOf(block ? '*/' : '\n', at + 2)
      if (end < 0) return { ok: false, why: 'cut' }
      at = end + (block ? 2 : 1)
    } else if (c === '{' || c === '[') {
      if (frame && frame.expect !== 'value') return ambiguous(`a bracket at position ${String(at)} has no place`)
      if (frames.length >= MAX_DEPTH) return ambiguous(`nested deeper than ${String(MAX_DEPTH)}`)
      frames.push({ kind: c, expect: c === '{' ? 'key' : 'value' })
      at++
    } else if (c === '}' || c === ']') {
      const hasPartner = frame?.kind === (c === '}' ? '{' : '[')
      const halfField = frame?.kind === '{' && (frame.expect === 'value' || frame.expect === 'colon')
      if (!hasPartner || halfField)
        return ambiguous(halfField ? 'a field has no value' : `a bracket at position ${String(at)} has no partner`)
      frames.pop()
      valueDone()
      lastSafe = true
      at++
      if (frames.length === 0) {
        const rest = source.slice(at)
        if (!/^[\s}\];,`]*(<[^<>]*>\s*)*$/.test(rest)) return ambiguous('there is more text behind the object')
        return { ok: true, text: [...patches, source.slice(copied, at)].join('') }
      }
    } else if (c === ':') {
      if (frame?.expect !== 'colon') return ambiguous(`the colon at position ${String(at)} has no key`)
      frame.expect = 'value'
      at++
    } else if (c === ',') {
      if (frame?.expect !== 'comma') return ambiguous(`the comma at position ${String(at)} stands behind nothing`)
      frame.expect = frame.kind === '{' ? 'key' : 'value'
      at++
    } else if (CLOSERS[c] !== undefined) {
      if (!mayHoldWord()) return ambiguous(`the quote at position ${String(at)} may be part of a text; write it as \\"`)
      const text = readText(source, at, CLOSERS[c])
      if (text.end === undefined) return { ok: false, why: 'cut' }
      if (text.badEscapes.length > 0 && text.mixed)
        return ambiguous('a backslash in a text can be read in two ways; write \\\\ for one backslash')
      for (const bad of text.badEscapes) {
        patches.push(source.slice(copied, bad), '\\')
        copied = bad
      }
      at = text.end
      lastSafe = true
      valueDone()
    } else {
      const word = BARE_WORD.exec(source.slice(at, at + MAX_WORD))?.[0]
      if (word === undefined || !mayHoldWord()) return ambiguous(`unexpected ${JSON.stringify(c)} at position ${String(at)}`)
      if (word.startsWith('...') || HALF_NUMBER.test(word)) return ambiguous(`${word} is no value`)
      lastSafe = WHOLE_WORD.test(word)
      at += word.length
      valueDone()
    }
  }
  const [only, second] = frames
  if (!only) return ambiguous('there is no object')
  const lacksOnlyBrace = !second && only.kind === '{' && only.expect === 'comma' && lastSafe
  return { ok: false, why: 'cut', ...(lacksOnlyBrace && { closed: [...patches, source.slice(copied), '}'].join('') }) }
}

const CLOSERS: Readonly<Record<string, string>> = { '"': '"', "'": "'", '`': '`', '“': '”', '‘': '’' }
const MAX_WORD = 1_000
const BARE_WORD = /^[^\s,:{}[\]"'`“”‘’()+]+/
const WHOLE_WORD = /^(true|false|null|True|False|None)$/
const HALF_NUMBER = /^-?(\d+\.|[\d.]+[eE][+-]?|)$/

/** `mixed`: beside the escapes that JSON does not know there are some that make control characters, so each backslash is in doubt (`C:\Users\new`). */
function readText(source: string, start: number, closer: string): { end?: number; badEscapes: number[]; mixed: boolean } {
  const badEscapes: number[] = []
  let mixed = false
  for (let at = start + 1; at < source.length; at++) {
    const c = source[at]
    if (c === closer) return { end: at + 1, badEscapes, mixed }
    if (c !== '\\') continue
    const next = source.charAt(at + 1)
    if (/[bfnrtu]/.test(next)) mixed = true
    else if (!/["'`\\/]/.test(next)) badEscapes.push(at)
    at++
  }
  return { badEscapes, mixed }
}
