// Looks over valid JSON for what a parser does not tell: a field that is given twice with two values (JSON.parse takes the last in silence),
// and nesting that would break validators, which recurse.
import { MAX_DEPTH } from './relaxed'

interface Open {
  /** Key → text of its value; undefined for a list. */
  readonly fields: Map<string, string> | undefined
  key?: { readonly name: string; start?: number }
}

/** Why the text cannot be taken as it is, or undefined. `text` is valid JSON. */
export function findTrouble(text: string): string | undefined {
  const open: Open[] = []
  let mayBeKey = false
  for (let at = 0; at < text.length; at++) {
    const c = text.charAt(at)
    const top = open.at(-1)
    if ((c === ',' || c === '}') && top?.fields && top.key) {
      const { name, start = at } = top.key
      const value = text.slice(start, at).trim()
      const before = top.fields.get(name)
      if (before !== undefined && before !== value) return `${name} is given twice, with different values`
      top.fields.set(name, value)
      delete top.key
    }
    if (c === '{' || c === '[') {
      open.push({ fields: c === '{' ? new Map<string, string>() : undefined })
      if (open.length > MAX_DEPTH) return `nested deeper than ${String(MAX_DEPTH)}`
    } else if (c === '}' || c === ']') open.pop()
    else if (c === ':' && top?.key) top.key.start = at + 1
    else if (c === '"') {
      const end = endOfString(text, at)
      if (top?.fields && mayBeKey) top.key = { name: String(JSON.parse(text.slice(at, end))) }
      at = end - 1
    }
    if (!/\s/.test(c)) mayBeKey = c === '{' || c === ','
  }
  return undefined
}

/** Not a pattern: those keep a place for each backslash, and texts have millions. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text[at - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return at + 1
  }
  return text.length
}
