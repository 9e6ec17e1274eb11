// Text to tokens and back. The same text can be cut into tokens in several ways, and a model's own output is rarely cut as a tokenizer would:
// a memo of what was evaluated keeps the next turn's prompt byte and token equal to this one's, so only what is new is read (spec C7).
import type { LlamaModel, Token } from 'node-llama-cpp'
import { FENCE } from './prompt'

export interface Tokenizer {
  /** Tokens of a prompt; a prompt that begins with a remembered text begins with its tokens. */
  encode(text: string): Token[]
  remember(text: string, tokens: readonly Token[]): void
  /** A reader of one answer's tokens. */
  decode(): Decoder
  /** Texts that would become control tokens. */
  readonly controls: readonly string[]
}

interface Decoder {
  /** Text that the token completes; empty while a character is still incomplete. */
  push(token: Token): string
  /** Tokens whose text was handed out. */
  readonly done: () => readonly Token[]
}

/** `memoSize`: texts to remember; two for each conversation that alternates. */
export function createTokenizer(model: LlamaModel, memoSize = 6): Tokenizer {
  const memo: { readonly text: string; readonly tokens: readonly Token[] }[] = []
  const { controls, tags } = specialTexts(model)

  // parts between fences are cut by themselves, so a control text with a fence in it never becomes its token
  const cut = (text: string, first: boolean): Token[] =>
    text.split(FENCE).flatMap((part, i) => model.tokenize(part, true, first && i === 0 ? undefined : 'trimLeadingSpace'))

  return {
    controls,
    encode(text) {
      const known = memo.filter((m) => text.startsWith(m.text)).sort((a, b) => b.text.length - a.text.length)[0]
      if (known) return [...known.tokens, ...cut(text.slice(known.text.length), false)]
      const tokens = cut(text, true)
      const { bos, shouldPrependBosToken } = model.tokens
      return shouldPrependBosToken && bos !== null && tokens[0] !== bos ? [bos, ...tokens] : tokens
    },
    remember(text, tokens) {
      const at = memo.findIndex((m) => m.text === text)
      if (at >= 0) memo.splice(at, 1)
      memo.push({ text, tokens })
      if (memo.length > memoSize) memo.shift()
    },
    decode() {
      const done: Token[] = []
      let held: Token[] = []
      const take = (text: string): string => {
        done.push(...held)
        held = []
        return text
      }
      return {
        done: () => done,
        push(token) {
          const tag = tags.get(token)
          const before = held.length === 0 ? '' : model.detokenize(held, false, done.slice(-8))
          if (tag !== undefined) {
            held.push(token)
            return take(before + tag)
          }
          held.push(token)
          const text = model.detokenize(held, false, done.slice(-8))
          // a character of several bytes may be spread over tokens; more than a few are no character any more
          return text.endsWith('\uFFFD') && held.length < 5 ? '' : take(text)
        }
      }
    }
  }
}

/** Tags that models write as one special token and that must still be seen in the text. */
const TAGS = ['<think>', '</think>', '<tool_call>', '</tool_call>']

function specialTexts(model: LlamaModel): { controls: string[]; tags: Map<Token, string> } {
  const controls: string[] = []
  const tags = new Map<Token, string>()
  for (const token of model.iterateAllTokens()) {
    const { control, userDefined, unknown } = model.getTokenAttributes(token)
    if (!control && !userDefined && !unknown) continue
    const text = model.detokenize([token], true)
    if (TAGS.includes(text)) tags.set(token, text)
    if (control && text !== '') controls.push(text)
  }
  return { controls, tags }
}
