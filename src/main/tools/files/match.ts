// Finding the text that an edit names (spec T, case by case in test/cases/edit_tool.json). Exact first; then more and more forgiving, each step only
// when the one before found nothing, and never of anything but the place itself: what an edit does not name keeps its bytes.
//
// Line ends are no part of the question: `\r\n` and `\n` match each other, and what is written takes the line end of its place.

export interface Edit {
  readonly old: string
  readonly new: string
  /** Every place, not one. */
  readonly all?: boolean | undefined
}
/** A place in the text, from `start` up to `end`, and what comes there. */
interface Change {
  readonly start: number
  readonly end: number
  readonly text: string
}
export type Edited =
  | { readonly ok: true; readonly text: string; readonly replaced: number; readonly lines: readonly number[]; readonly tolerant: boolean }
  | { readonly ok: false; readonly code: 'not_found' | 'ambiguous' | 'empty_search' | 'no_change' | 'overlap'; readonly reason: string }

/** Makes all edits at once, each found in the text as it was; all of them or none. `exactly`: nothing but exact matches. */
export function applyEdits(text: string, edits: readonly Edit[], exactly: boolean): Edited {
  const changes: Change[] = []
  let tolerant = false
  for (const [i, edit] of edits.entries()) {
    const which = edits.length === 1 ? '' : `edits[${String(i)}]: `
    if (edit.old === '')
      return { ok: false, code: 'empty_search', reason: `${which}"old" is empty. Name the text to replace; for a new file use write_file.` }
    if (edit.old === edit.new) return { ok: false, code: 'no_change', reason: `${which}"old" and "new" are the same.` }
    const found = find(text, edit, exactly)
    if (found.places.length === 0) return { ok: false, code: 'not_found', reason: `${which}${notFound(text, edit.old)}` }
    if (found.places.length > 1 && !edit.all) {
      const lines = found.places.map((p) => lineOf(text, p.start))
      const shown = lines.slice(0, 10).join(', ') + (lines.length > 10 ? ', …' : '')
      const more = 'Add lines around it until it is the only one, or set "all" to replace every one.'
      return {
        ok: false,
        code: 'ambiguous',
        reason: `${which}"old" is there ${String(found.places.length)} times, on lines ${shown}. ${more}`
      }
    }
    tolerant ||= found.tolerant
    let past = 0
    for (const place of found.places) {
      if (place.start < past) continue // of places that overlap, as "aa" in "aaa", the first
      past = place.end
      changes.push({ ...place, text: withLineEnds(text, place, place.text) })
    }
  }
  changes.sort((a, b) => a.start - b.start)
  for (const [i, change] of changes.entries()) {
    const next = changes[i + 1]
    if (next && next.start < change.end)
      return {
        ok: false,
        code: 'overlap',
        reason: `Two edits change the same place near line ${String(lineOf(text, next.start))}. Make them one.`
      }
  }
  const pieces: string[] = []
  let at = 0
  for (const { start, end, text: fresh } of changes) {
    pieces.push(text.slice(at, start), fresh)
    at = end
  }
  pieces.push(text.slice(at))
  return { ok: true, text: pieces.join(''), replaced: changes.length, lines: changes.map((c) => lineOf(text, c.start)), tolerant }
}

function find(text: string, { old, new: fresh }: Edit, exactly: boolean): { places: Change[]; tolerant: boolean } {
  const exact = occurrences(text, old).map((p) => ({ ...p, text: fresh }))
  if (exact.length > 0 || exactly) return { places: exact, tolerant: false }
  // letters that look alike and take one place each: curly quotes, dashes, odd blanks
  const plain = occurrences(alike(text), alike(old)).map((p) => ({ ...p, text: fresh }))
  if (plain.length > 0) return { places: plain, tolerant: true }
  return { places: sameLines(text, old, fresh), tolerant: true }
}

/** Every place of `wanted`, also those that overlap; a line break of either kind matches both. */
function occurrences(text: string, wanted: string): { start: number; end: number }[] {
  const needle = wanted.replaceAll('\r\n', '\n')
  if (!text.includes('\r')) return placesOf(text, needle).map((start) => ({ start, end: start + needle.length }))
  const flat = text.replaceAll('\r\n', '\n')
  const places = placesOf(flat, needle)
  if (places.length === 0) return []
  const offset = offsets(text)
  return places.map((start) => ({ start: offset(start), end: offset(start + needle.length) }))
}

function placesOf(text: string, needle: string): number[] {
  const places: number[] = []
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + 1)) places.push(at)
  return places
}

/** From a place in the text without carriage returns to its place in the text; one before a line break is before its carriage return. */
function offsets(text: string): (flat: number) => number {
  const breaks: number[] = [] // places of `\n` in the flat text that stand for `\r\n`
  for (let at = text.indexOf('\r\n'); at !== -1; at = text.indexOf('\r\n', at + 2)) breaks.push(at - breaks.length)
  return (flat) => {
    let low = 0
    let high = breaks.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((breaks[middle] ?? 0) < flat) low = middle + 1
      else high = middle
    }
    return flat + low
  }
}

const ALIKE: readonly (readonly [RegExp, string])[] = [
  [/[\u2018\u2019\u201a\u201b\u2032]/g, "'"],
  [/[\u201c\u201d\u201e\u201f\u2033]/g, '"'],
  [/[\u2010-\u2015\u2212]/g, '-'],
  [/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, ' ']
]
const alike = (text: string): string => ALIKE.reduce((t, [from, to]) => t.replace(from, to), text)

/** Whole lines that are the same but for blanks at their ends, or for an indentation that differs by the same amount everywhere. */
function sameLines(text: string, old: string, fresh: string): Change[] {
  const wanted = trimBreaks(old).split(/\r?\n/)
  if (wanted.every((l) => l.trim() === '')) return []
  const lines = linesOf(text)
  const key = (line: string): string => alike(line).trim()
  const keys = wanted.map(key)
  const places: Change[] = []
  for (let i = 0; i + wanted.length <= lines.length; i++) {
    if (!keys.every((k, n) => key(lines[i + n]?.text ?? '') === k)) continue
    const block = lines.slice(i, i + wanted.length)
    const shift = shiftOf(
      wanted,
      block.map((l) => l.text)
    )
    const [first, last] = [block[0], block.at(-1)]
    if (shift === undefined || !first || !last) continue
    const text = trimBreaks(fresh)
    places.push({ start: first.start, end: last.start + last.text.length, text: shift === '' ? text : reindent(text, shift) })
  }
  return places
}

/** What stands before each line of the file more than in the edit; undefined: not the same everywhere, or less. */
function shiftOf(wanted: readonly string[], there: readonly string[]): string | undefined {
  let shift: string | undefined
  for (const [i, line] of wanted.entries()) {
    if (line.trim() === '') continue
    const own = /^\s*/.exec(line)?.[0] ?? ''
    const has = /^\s*/.exec(there[i] ?? '')?.[0] ?? ''
    if (!has.endsWith(own)) return undefined
    const more = has.slice(0, has.length - own.length)
    if (shift !== undefined && shift !== more) return undefined
    shift = more
  }
  return shift
}
const reindent = (text: string, shift: string): string =>
  text
    .split('\n')
    .map((l) => (l.trim() === '' ? l : shift + l))
    .join('\n')
const trimBreaks = (text: string): string => text.replace(/^(\r?\n)+|(\r?\n)+$/g, '')

function linesOf(text: string): { text: string; start: number }[] {
  const lines: { text: string; start: number }[] = []
  let start = 0
  for (const part of text.split('\n')) {
    lines.push({ text: part.endsWith('\r') ? part.slice(0, -1) : part, start })
    start += part.length + 1
  }
  return lines
}

/** What is written gets the line end of its place: of the text that goes, else of the lines around it. */
function withLineEnds(text: string, { start, end }: { start: number; end: number }, fresh: string): string {
  const flat = fresh.replaceAll('\r\n', '\n')
  if (!flat.includes('\n')) return flat
  const inside = /\r?\n/.exec(text.slice(start, end))?.[0]
  const after = text.indexOf('\n', end)
  const before = text.lastIndexOf('\n', start)
  const near = after === -1 ? before : after
  const eol = inside ?? (near > 0 && text[near - 1] === '\r' ? '\r\n' : '\n')
  return eol === '\n' ? flat : flat.replaceAll('\n', '\r\n')
}

function lineOf(text: string, at: number): number {
  let line = 1
  for (let i = text.indexOf('\n'); i !== -1 && i < at; i = text.indexOf('\n', i + 1)) line++
  return line
}

/** Shows the line that is nearest to the first line of what was looked for, so that the next try can be right. */
function notFound(text: string, old: string): string {
  const first = old.split(/\r?\n/).find((l) => l.trim() !== '') ?? ''
  const wanted = words(first)
  let best: { line: number; text: string; score: number } | undefined
  for (const [i, line] of text.slice(0, 2_000_000).split(/\r?\n/).entries()) {
    const here = words(line)
    const shared = [...wanted].filter((w) => here.has(w)).length
    const score = shared / Math.max(1, wanted.size, here.size)
    if (score > (best?.score ?? 0.4)) best = { line: i + 1, text: line, score }
  }
  const near = best ? ` The nearest is line ${String(best.line)}: ${JSON.stringify(best.text.slice(0, 200))}.` : ''
  return `"old" is not in the file.${near} Read the file again and copy the text exactly.`
}
const words = (line: string): Set<string> => new Set(line.match(/[\p{L}\p{N}_]+/gu))
