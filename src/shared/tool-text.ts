// Reads what a local model writes, token by token: visible text, thinking, tool calls. Raw call syntax never gets through, not even for a
// moment: what could still become a tag is held back. A cut or broken call is reported as such, never completed (spec T4, M1).
import { isObject, parseJson } from './json'

export type ToolTextPiece =
  | { readonly type: 'text' | 'thinking'; readonly delta: string }
  /** `arguments`: JSON text of an object. */
  | { readonly type: 'call'; readonly name: string; readonly arguments: string }
  /** `name` and `arguments` (raw text) where they can be told apart; a `cut` call has lost its end and must not be repaired. */
  | {
      readonly type: 'broken'
      readonly reason: 'cut' | 'bad_json'
      readonly raw: string
      readonly name?: string
      readonly arguments?: string
    }

export interface ToolTextReader {
  /** Reads some more text; returns what is certain by now. */
  push(chunk: string): ToolTextPiece[]
  /** The answer is over; returns the rest. `cut`: the token limit ended it, so that an open call is never taken. */
  end(cut: boolean): ToolTextPiece[]
}

/** What a chat template (Jinja text of a GGUF file) can do. */
export interface TemplateAbilities {
  readonly tools: boolean
  readonly thinking: boolean
}

export const abilitiesOf = (template: string | undefined): TemplateAbilities => ({
  tools: /\btools\b/.test(template ?? ''),
  thinking: (template ?? '').includes('<think>')
})

/** True when a prompt ends inside a think block that the template opened. */
export const opensThinking = (prompt: string): boolean => prompt.trimEnd().endsWith(THINK.open)

/**
 * `calls`: whether tools were offered; without it call syntax is ordinary text. `thinking`: the prompt opened the think block already.
 * A think block is only known at the start of an answer; later the tag is text.
 */
export function readToolText(options: { calls: boolean; thinking: boolean }): ToolTextReader {
  let state: State = options.thinking ? 'thinking' : 'start'
  let held = ''
  /** Where to look for the end of an open call: everything before was searched. */
  let searched = 0
  /** Drops white space up to the next visible character: after a think block and around calls. */
  let trim = options.thinking
  let out: ToolTextPiece[] = []

  const emit = (type: 'text' | 'thinking', delta: string): void => {
    const last = out.at(-1)
    if (delta === '') return
    if (last?.type === type) out[out.length - 1] = { type, delta: last.delta + delta }
    else out.push({ type, delta })
  }
  const emitText = (text: string): void => {
    const visible = trim ? text.trimStart() : text
    if (visible !== '') trim = false
    emit('text', visible)
  }
  const enter = (next: State, rest: string): void => {
    state = next
    held = rest
    searched = 0
  }

  /** One step of the machine; false when more text is needed. */
  const step = (): boolean => {
    switch (state) {
      case 'start': {
        const visible = held.trimStart()
        if (visible.startsWith(THINK.open)) {
          enter('thinking', visible.slice(THINK.open.length))
          trim = true
          return true
        }
        if (visible === '' || THINK.open.startsWith(visible)) return false
        enter('text', held)
        return true
      }
      case 'thinking': {
        const ends = held.indexOf(THINK.close)
        const calls = options.calls ? held.indexOf(CALL.open) : -1
        if (calls >= 0 && (ends < 0 || calls < ends)) {
          emitThinking(held.slice(0, calls))
          enter('call in thinking', held.slice(calls))
          return true
        }
        if (ends >= 0) {
          emitThinking(held.slice(0, ends).trimEnd())
          enter('text', held.slice(ends + THINK.close.length))
          trim = true
          return true
        }
        const sure = sureLength(held, options.calls ? [THINK.close, CALL.open] : [THINK.close])
        emitThinking(held.slice(0, sure))
        held = held.slice(sure)
        return false
      }
      case 'call in thinking': {
        const ends = held.indexOf(THINK.close)
        if (ends < 0) return false
        // it was only thought of: the model closed its thinking afterwards
        emitThinking(held.slice(0, ends).trimEnd())
        enter('text', held.slice(ends + THINK.close.length))
        trim = true
        return true
      }
      case 'text': {
        const calls = options.calls ? held.indexOf(CALL.open) : -1
        if (calls >= 0) {
          emitText(held.slice(0, calls).trimEnd())
          enter('call', held.slice(calls + CALL.open.length))
          trim = true
          return true
        }
        const sure = options.calls ? sureLength(held, [CALL.open]) : held.length
        emitText(held.slice(0, sure))
        held = held.slice(sure)
        return false
      }
      case 'call': {
        // a closing tag may stand inside a string of the arguments: it ends the call only where the JSON is whole
        for (let at = held.indexOf(CALL.close, searched); at >= 0; at = held.indexOf(CALL.close, at + 1)) {
          const calls = parseCalls(held.slice(0, at))
          if (calls) {
            out.push(...calls)
            enter('text', held.slice(at + CALL.close.length))
            return true
          }
        }
        searched = Math.max(0, held.length - CALL.close.length + 1)
        return false
      }
    }
  }
  let thought = options.thinking
  const emitThinking = (text: string): void => {
    const visible = thought ? text : text.trimStart()
    if (visible !== '') thought = true
    emit('thinking', visible)
  }

  const takeOpenCall = (cut: boolean): void => {
    let closed = held.indexOf(CALL.close)
    // a text that was cut may have been cut inside a string that mentions the tag
    while (cut && closed >= 0 && endsInString(held.slice(0, closed))) closed = held.indexOf(CALL.close, closed + 1)
    if (closed >= 0) {
      out.push(broken('bad_json', held.slice(0, closed)))
      enter('text', held.slice(closed + CALL.close.length))
      while (step());
      return
    }
    const calls = cut ? undefined : parseCalls(held)
    out.push(...(calls ?? [broken('cut', held)]))
    enter('text', '')
  }
  const takeThoughtCalls = (cut: boolean): void => {
    // the answer is over and the think block was never closed: calls in it are meant (some models forget the closing tag)
    const blocks = held.split(CALL.open).slice(1)
    const calls = blocks.map((block) => parseCalls(block.slice(0, block.includes(CALL.close) ? block.indexOf(CALL.close) : undefined)))
    const whole = !cut && calls.every((c) => c !== undefined)
    if (whole) out.push(...calls.flat())
    else emitThinking(held)
    enter('text', '')
  }

  return {
    push(chunk) {
      held += chunk
      while (step());
      const pieces = out
      out = []
      return pieces
    },
    end(cut) {
      if (state === 'start') enter('text', held)
      while (step());
      while (state === 'call') takeOpenCall(cut)
      if (state === 'call in thinking') takeThoughtCalls(cut)
      if (state === 'thinking') emitThinking(held)
      else emitText(held)
      enter('text', '')
      const pieces = out
      out = []
      return pieces
    }
  }
}

type State = 'start' | 'thinking' | 'call in thinking' | 'text' | 'call'

const THINK = { open: '<think>', close: '</think>' }
const CALL = { open: '<tool_call>', close: '</tool_call>' }

/** How much of `text` can be shown: all but trailing white space and an end that may be the beginning of a tag. */
function sureLength(text: string, tags: readonly string[]): number {
  let length = text.length
  for (const tag of tags)
    for (let n = Math.min(tag.length - 1, text.length); n > 0; n--)
      if (text.endsWith(tag.slice(0, n))) {
        length = Math.min(length, text.length - n)
        break
      }
  return text.slice(0, length).trimEnd().length
}

const endsInString = (json: string): boolean => (json.replace(/\\[\s\S]/g, '').match(/"/g) ?? []).length % 2 === 1

type CallPiece = Extract<ToolTextPiece, { type: 'call' }>

/** The calls in the body of one tag: an object or a list of them; nothing when it is no whole JSON or has no name. */
function parseCalls(body: string): CallPiece[] | undefined {
  const value = parseJson(body)
  const calls = (Array.isArray(value) ? value : [value]).map(toCall)
  return calls.length > 0 && calls.every((c) => c !== undefined) ? calls : undefined
}

function toCall(value: unknown): CallPiece | undefined {
  if (!isObject(value)) return undefined
  const inner = isObject(value['function']) ? value['function'] : value
  const name = inner['name']
  const given = inner['arguments'] ?? inner['parameters'] ?? {}
  const args = typeof given === 'string' ? parseJson(given) : given
  if (typeof name !== 'string' || name === '' || !isObject(args)) return undefined
  return { type: 'call', name, arguments: typeof given === 'string' ? given : JSON.stringify(given) }
}

function broken(reason: 'cut' | 'bad_json', raw: string): ToolTextPiece {
  const name = /"name"\s*:\s*"([^"\\]+)"/.exec(raw)?.[1]
  const args = /"(?:arguments|parameters)"\s*:\s*([\s\S]*?)\s*\}?\s*$/.exec(raw)?.[1]
  return { type: 'broken', reason, raw, ...(name !== undefined && { name }), ...(args !== undefined && { arguments: args }) }
}
