// Looks over valid JSON for what a parser does not tell: a field that is given twice with two values (JSON.parse takes the last in silence),
// and nesting that would break validators, which recurse.
import { MAX_DEPTH } from './relaxed'

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]|[^\s{}[\]:,"]+/gs

interface Open {
  /** Key → text of its value; undefined for a list. */
  readonly fields: Map<string, string> | undefined
  key?: { readonly name: string; start?: number }
}

/** Why the text cannot be taken as it is, or undefined. `text` is valid JSON. */
export function findTrouble(text: string): string | undefined {
  const open: Open[] = []
  let last = ''
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const top = open.at(-1)
    if (top?.fields && (token === ',' || token === '}') && top.key) {
      const { name, start = index } = top.key
      const value = text.slice(start, index).trim()
      const before = top.fields.get(name)
      if (before !== undefined && before !== value) return `${name} is given twice, with different values`
      top.fields.set(name, value)
      delete top.key
    }
    if (token === '{' || token === '[') {
      open.push({ fields: token === '{' ? new Map<string, string>() : undefined })
      if (open.length > MAX_DEPTH) return `nested deeper than ${String(MAX_DEPTH)}`
    } else if (token === '}' || token === ']') open.pop()
    else if (token === ':' && top?.key) top.key.start = index + 1
    else if (top?.fields && token.startsWith('"') && (last === '{' || last === ',')) top.key = { name: String(JSON.parse(token)) }
    last = token
  }
  return undefined
}
