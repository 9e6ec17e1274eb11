// How programs read their words: which are options, which are values of options, which are operands.
import type { Word } from './words'

export interface Split {
  /** Options as written, without values that stand in a word of their own. */
  readonly options: readonly string[]
  /** Values of options, by the option's name. */
  readonly values: ReadonlyMap<string, readonly Word[]>
  readonly operands: readonly Word[]
  /** A word that is not known stands where an option could be. */
  readonly unsure: boolean
}

/** `short`: letters of options with a value; `long`: names (with dashes) of those whose value is the next word. `single`: long options have one dash. */
export function split(words: readonly Word[], short: string, long: readonly string[] = [], single = false): Split {
  const options: string[] = []
  const values = new Map<string, Word[]>()
  const operands: Word[] = []
  let unsure = false
  let rest = false
  const give = (name: string, word: Word | undefined): void => {
    if (word) values.set(name, [...(values.get(name) ?? []), word])
  }
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as Word
    const text = word.value
    if (rest || (text !== undefined && (text === '-' || !text.startsWith('-')))) operands.push(word)
    else if (text === undefined || word.glob) {
      operands.push(word)
      if (!/^["'./~a-zA-Z0-9]/.test(word.source) || text === undefined) unsure = true
    } else if (text === '--') rest = true
    else if (text.startsWith('--') || single) {
      const [name = '', ...value] = text.split('=')
      options.push(name)
      if (value.length > 0) give(name, literal(value.join('=')))
      else if (long.includes(name)) give(name, words[++i])
    } else {
      for (let c = 1; c < text.length; c++) {
        const name = `-${text.charAt(c)}`
        options.push(name)
        if (!short.includes(text.charAt(c))) continue
        give(name, c + 1 < text.length ? literal(text.slice(c + 1)) : words[++i])
        break
      }
    }
  }
  return { options, values, operands, unsure }
}

const literal = (value: string): Word => ({ source: value, value, glob: false, home: false, nested: [] })

/** Whether a long option is cut short that has a value: then it is not clear which words are operands. */
export const cut = (options: readonly string[], ...names: string[]): boolean =>
  options.some((given) => given.startsWith('--') && names.some((name) => name !== given && name.startsWith(given)))

/** Whether an option may be meant by one of those written: long ones may be cut short. */
export const uses = (options: readonly string[], ...names: string[]): boolean =>
  options.some((given) => names.some((name) => given === name || (given.length > 3 && given.startsWith('--') && name.startsWith(given))))
