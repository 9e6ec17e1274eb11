// The words of a command as the shell would make them, as far as that can be known beforehand.
import type { Node } from 'web-tree-sitter'

export interface Word {
  /** What it is written as, for people. */
  readonly source: string
  /** What the program would get; undefined: it cannot be known. */
  readonly value?: string
  /** It holds an unquoted `*`, `?` or `[`: the shell may put names of files in its place. */
  readonly glob: boolean
  /** It is not quoted and begins with `~/`, or is `~`. */
  readonly home: boolean
  /** Commands in it that run before it is known. */
  readonly nested: readonly Node[]
}

/** Variables whose value is known: the home folder and the present one. */
export interface Known {
  readonly home: string
  readonly cwd: string | undefined
}

interface Piece {
  readonly value: string | undefined
  readonly glob: boolean
  readonly quoted: boolean
  readonly nested: readonly Node[]
}

export function wordOf(node: Node, known: Known): Word {
  const pieces = piecesOf(node, known)
  const values = pieces.map((p) => p.value)
  const first = pieces[0]
  const home = first?.quoted === false && first.value !== undefined && /^~(\/|$)/.test(first.value)
  const named = first?.quoted === false && first.value?.startsWith('~') === true && !home
  const braces = pieces.some((p) => !p.quoted && p.value !== undefined && /[{}]/.test(p.value)) && mayExpand(node.text)
  const value = values.includes(undefined) || named || braces ? undefined : values.join('')
  return {
    source: node.text,
    ...(value !== undefined && { value: home ? known.home + value.slice(1) : value }),
    glob: pieces.some((p) => p.glob),
    home,
    nested: pieces.flatMap((p) => p.nested)
  }
}

/** `{}` alone stands for itself; with a comma or two dots in it, the shell makes several words of one. */
const mayExpand = (text: string): boolean => /\{[^}]*(,|\.\.)/.test(text)

function piecesOf(node: Node, known: Known): Piece[] {
  const plain = (value: string | undefined, quoted: boolean): Piece => ({ value, glob: false, quoted, nested: [] })
  switch (node.type) {
    case 'command_name':
      return node.namedChildren[0] ? piecesOf(node.namedChildren[0], known) : [plain(undefined, false)]
    case 'word':
    case 'number':
    case 'extglob_pattern':
    case 'variable_name':
      return [bare(node.text)]
    case 'raw_string':
      return [plain(node.text.slice(1, -1), true)]
    case 'ansi_c_string':
      return [plain(ansi(node.text.slice(2, -1)), true)]
    case 'string':
      return [quoted(node, known)]
    case 'concatenation':
      return node.namedChildren.flatMap((child) => piecesOf(child, known))
    case 'simple_expansion':
    case 'expansion':
      return [{ value: variable(node, known), glob: false, quoted: true, nested: commandsIn(node) }]
    default:
      // substitutions, arithmetic, arrays, braces, and whatever the grammar knows that we do not
      return [{ value: undefined, glob: false, quoted: true, nested: commandsIn(node) }]
  }
}

function bare(text: string): Piece {
  let value = ''
  let glob = false
  for (let i = 0; i < text.length; i++) {
    const c = text.charAt(i)
    if (c !== '\\') {
      if ('*?['.includes(c)) glob = true
      value += c
    } else if (text[++i] !== '\n') value += text.charAt(i)
  }
  // what was escaped is quoted: `\~` is no home folder, `\{a,b\}` no list
  return { value, glob, quoted: text.startsWith('\\'), nested: [] }
}

/** Text between double quotes. Pieces that are not expansions are taken from the source: the grammar leaves out some blanks. */
function quoted(node: Node, known: Known): Piece {
  const parts = node.namedChildren.filter((child) => child.type !== 'string_content')
  let value: string | undefined = ''
  let at = node.startIndex + 1
  const take = (until: number): void => {
    const text = node.text.slice(at - node.startIndex, until - node.startIndex)
    if (value !== undefined) value += text.replaceAll(/\\([\\"$`\n])/g, (_all, c: string) => (c === '\n' ? '' : c))
  }
  for (const part of parts) {
    take(part.startIndex)
    const inner = part.type === 'simple_expansion' || part.type === 'expansion' ? variable(part, known) : undefined
    value = value === undefined || inner === undefined ? undefined : value + inner
    at = part.endIndex
  }
  take(node.endIndex - 1)
  return { value, glob: false, quoted: true, nested: parts.flatMap(commandsIn) }
}

function variable(node: Node, { home, cwd }: Known): string | undefined {
  if (/^\$\{?HOME\}?$/.test(node.text)) return home
  return /^\$\{?PWD\}?$/.test(node.text) ? cwd : undefined
}

/** Substitutions anywhere below a node. */
export function commandsIn(node: Node): Node[] {
  if (node.type === 'command_substitution' || node.type === 'process_substitution') return [node]
  return node.namedChildren.flatMap(commandsIn)
}

const ANSI: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v', e: '\x1b', E: '\x1b' }

/** What stands in `$'…'`; undefined for an escape that we do not read. */
function ansi(text: string): string | undefined {
  let known = true as boolean
  const value = text.replaceAll(/\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|[^])/g, (_all, code: string) => {
    if (/^[xuU]./.test(code)) return point(Number.parseInt(code.slice(1), 16))
    if (/^[0-7]/.test(code)) return point(Number.parseInt(code, 8) & 0xff)
    if ('\\\'"?'.includes(code)) return code
    const found = ANSI[code]
    if (found === undefined) known = false
    return found ?? ''
  })
  // bytes beyond ASCII are put together to characters by the shell
  // eslint-disable-next-line no-control-regex -- the whole of ASCII is meant
  return known && /^[\x01-\x7f]*$/.test(value) ? value : undefined
}

const point = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : '\u{10ffff}')
