// Several calls in one: objects written one behind the other where one was due. Each is a call of its own; the same object again is a stutter
// of the stream and counts once, and an empty one before others is how some servers begin.

/** The texts of the calls, in order: the text itself unless it is nothing but two or more whole objects. */
export function splitArguments(raw: string): string[] {
  if (!/\}[\s,]*\{/.test(raw)) return [raw]
  try {
    const pieces = new Map<string, string>()
    let at = 0
    for (;;) {
      while (/[\s,]/.test(raw.charAt(at))) at++
      if (at === raw.length) {
        if (pieces.size > 1) pieces.delete('{}')
        return [...pieces.values()]
      }
      const end = endOfObject(raw, at)
      if (end === undefined || (at === 0 && end === raw.length)) return [raw]
      const piece = raw.slice(at, end)
      const same = JSON.stringify(JSON.parse(piece))
      if (!pieces.has(same)) pieces.set(same, piece)
      at = end
    }
  } catch {
    return [raw] // not all of it is JSON: the reader of arguments says so to the model
  }
}

function endOfObject(text: string, start: number): number | undefined {
  if (text[start] !== '{') return undefined
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const c = text[at]
    if (c === '"') {
      at++
      while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
    } else if (c === '{') depth++
    else if (c === '}' && --depth === 0) return at + 1
  }
  return undefined
}
