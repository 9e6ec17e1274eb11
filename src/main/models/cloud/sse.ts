// Server-sent events out of a stream of bytes (https://html.spec.whatwg.org/multipage/server-sent-events.html), and what servers make of them:
// a chunk may end anywhere, also between CR and LF; the last event may lack its blank line; blank lines between events may be missing.

export interface SseEvent {
  /** `message` unless the server named it. */
  readonly name: string
  readonly data: string
  /** The connection ended before the blank line: the data may be cut. */
  readonly open: boolean
}

export interface SseReader {
  push(bytes: Uint8Array): SseEvent[]
  end(): SseEvent[]
}

/** `maxChars`: what one event may hold; throws a RangeError beyond that (a server that floods must not fill memory). */
export function createSseReader(maxChars = 16_000_000): SseReader {
  const decoder = new TextDecoder() // takes a byte order mark away
  let held = ''
  let name = ''
  let data: string[] = []
  let size = 0

  const dispatch = (open: boolean): SseEvent[] => {
    const found = data
    const event = { name: name === '' ? 'message' : name, open }
    data = []
    name = ''
    size = 0
    if (found.length === 0) return []
    const whole = found.join('\n')
    // lines that are JSON each, and not together, are events that lost their blank lines
    const apart = found.length > 1 && !isPayload(whole) && found.every(isPayload)
    return (apart ? found : [whole]).map((text) => ({ ...event, data: text }))
  }
  const readLine = (line: string): SseEvent[] => {
    if (line === '') return dispatch(false)
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1))
    if (field === 'event') name = value
    if (field === 'data') {
      data.push(value)
      size += value.length
      if (size > maxChars) throw new RangeError('an event is too long')
    }
    return []
  }
  const take = (text: string, last: boolean): SseEvent[] => {
    held += text
    if (held.length > maxChars) throw new RangeError('a line is too long')
    if (!last && !/[\r\n]/.test(text) && !held.endsWith('\r')) return []
    // a CR at the end may be half of a CRLF: it waits for the next chunk
    const ready = !last && held.endsWith('\r') ? held.slice(0, -1) : held
    const lines = ready.split(/\r\n|\n|\r/)
    held = (last ? '' : (lines.pop() ?? '')) + held.slice(ready.length)
    return lines.flatMap(readLine)
  }
  return {
    push: (bytes) => take(decoder.decode(bytes, { stream: true }), false),
    end: () => {
      const rest = held + decoder.decode()
      held = ''
      return [...take(rest, true), ...dispatch(true)]
    }
  }
}

const isPayload = (text: string): boolean => {
  if (text === '[DONE]') return true
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
