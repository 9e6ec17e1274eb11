// Output of programs as plain text: terminal codes, control characters and text that runs backwards do nothing any more. What is given does not
// depend on where the output was cut into pieces.

export interface Inert {
  /** More bytes; gives the text that is certain now. */
  push(bytes: Uint8Array): string
  /** The rest. */
  end(): string
  /** Whether most of it was no text. */
  readonly binary: boolean
}

/** A line is held back until it ends, as a program may go back and write over it; a longer one is let go. */
const MAX_LINE = 64_000

type Mode = 'text' | 'escape' | 'csi' | 'string' | 'string-escape' | 'charset'

export function createInert(): Inert {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let line = ''
  let mode: Mode = 'text'
  let back = false // a carriage return was seen: what comes next is written over the line, unless it is a line break
  let odd = 0
  let total = 0

  function take(text: string): string {
    total += text.length
    if (mode === 'text' && !back && PLAIN.test(text)) {
      const at = text.lastIndexOf('\n') + 1
      const done = at === 0 ? '' : line + text.slice(0, at)
      line = at === 0 ? line + text : text.slice(at)
      return done + flushLong()
    }
    let done = ''
    for (const c of text) {
      const code = c.codePointAt(0) ?? 0
      if (mode !== 'text') {
        mode = next(mode, c, code)
        continue
      }
      if (c === '\n') {
        done += `${line}\n`
        line = ''
        back = false
      } else if (c === '\r') back = true
      else if (code === 0x1b) mode = 'escape'
      else if (code === 0x9b) mode = 'csi'
      else if (code === 0x90 || code === 0x98 || (code >= 0x9d && code <= 0x9f)) mode = 'string'
      else if (c === '\b') line = withoutLast(line)
      else if (code < 32 && c !== '\t') odd++
      else if (code === 0x7f || (code >= 0x80 && code < 0xa0)) odd++
      else if (!HIDDEN.test(c)) {
        if (back) line = ''
        back = false
        if (code === 0xfffd) odd++
        line += c
        if (line.length >= MAX_LINE) {
          done += line
          line = ''
        }
      }
    }
    return done
  }

  function flushLong(): string {
    if (line.length < MAX_LINE) return ''
    // cut where the walk through single characters would cut, so that pieces make no difference
    const whole = line
    line = ''
    let done = ''
    let held = ''
    for (const c of whole) {
      held += c
      if (held.length < MAX_LINE) continue
      done += held
      held = ''
    }
    line = held
    return done
  }

  return {
    push: (bytes) => take(decoder.decode(bytes, { stream: true })),
    end() {
      const rest = take(decoder.decode()) + line
      line = ''
      return rest
    },
    get binary() {
      return odd > 16 && odd > total / 10
    }
  }
}

/** The whole of a text at once. */
export function inert(text: string): string {
  const made = createInert()
  return made.push(Buffer.from(text)) + made.end()
}

/** Nothing that needs a closer look. */

const PLAIN = /^[\n\t\x20-\x7e\xa0-\u061b\u061d-\u200a\u2010-\u2029\u202f-\u2065\u206a-\ufefe\uff00-\uffef\u{10000}-\u{10ffff}]*$/u
/** Turns the direction of text, or cannot be seen at all. */
const HIDDEN = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/

function next(mode: Exclude<Mode, 'text'>, c: string, code: number): Mode {
  switch (mode) {
    case 'escape':
      if (c === '[') return 'csi'
      if (c === ']' || c === 'P' || c === 'X' || c === '^' || c === '_') return 'string'
      return '()*+-./#%'.includes(c) ? 'charset' : 'text'
    case 'csi':
      // parameters go on until a letter; a line break ends what is no code after all
      return (code >= 0x40 && code <= 0x7e) || c === '\n' ? 'text' : 'csi'
    case 'string':
      if (code === 0x1b) return 'string-escape'
      return code === 7 || code === 0x9c || c === '\n' ? 'text' : 'string'
    case 'string-escape':
      return 'text'
    case 'charset':
      return 'text'
  }
}

const withoutLast = (line: string): string => (/[\ud800-\udbff][\udc00-\udfff]$/.test(line) ? line.slice(0, -2) : line.slice(0, -1))
