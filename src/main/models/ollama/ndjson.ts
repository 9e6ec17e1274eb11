// Lines of JSON out of a stream of bytes. A chunk may end anywhere, in the middle of a character too.
import { isObject, type Json } from '../../../shared/json'

/** An object, or the text of a line that is none. */
export type Line = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly text: string }

export interface LineSplitter {
  push(bytes: Uint8Array): Line[]
  /** What stood behind the last line break; nothing when that was blank. */
  end(): Line[]
}

/** `maxLine`: characters that one line may have; a longer one is handed out as not readable (a server that floods must not fill memory). */
export function createLineSplitter(maxLine = 16_000_000): LineSplitter {
  const decoder = new TextDecoder('utf-8')
  let held = ''
  const take = (text: string, all: boolean): Line[] => {
    held += text
    if (!all && !text.includes('\n') && held.length <= maxLine) return []
    const lines = held.split('\n')
    held = all ? '' : (lines.pop() ?? '')
    if (held.length > maxLine) {
      lines.push(held)
      held = ''
    }
    return lines.filter((line) => line.trim() !== '').map(parseLine)
  }
  return { push: (bytes) => take(decoder.decode(bytes, { stream: true }), false), end: () => take(decoder.decode(), true) }
}

function parseLine(line: string): Line {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? { ok: true, value } : { ok: false, text: line }
  } catch {
    return { ok: false, text: line }
  }
}
