// Walks through a parsed line in the order in which the shell would, and says of each simple command and redirection what it would do. What is not
// understood is said to be unsure; nothing is taken for harmless because it looks so.
import { basename } from 'node:path'
import type { Node } from 'web-tree-sitter'
import { absolutePath, realPath } from '../paths'
import type { Secrets } from '../secrets'
import type { CommandFacts, Effect, ShellPlace } from './facts'
import { gitCall } from './git'
import { hostsOf, sendsFile } from './network'
import { split } from './options'
import type { ShellParser } from './parser'
import { FETCHES, NETWORK, READERS, type Reads, SHELLS, WRAPPERS, WRITERS } from './programs'
import { commandsIn, type Word, wordOf } from './words'

const MAX_LENGTH = 20_000
const MAX_DEPTH = 6
/** Characters that the shell and a reader of the line may take for different things. */
// eslint-disable-next-line no-control-regex -- it is control characters that are looked for
const ODD = /[\0-\x08\x0b-\x1f\x7f-\x9f\u00ad]|(?! )\p{Z}|\p{Cf}/u

/** Where the walk is. A copy goes into what runs in a shell of its own, so that a `cd` there stays there. */
interface State {
  /** Undefined: not known any more. */
  cwd: string | undefined
  /** What it reads is what a command before it printed, or a file: data of this machine. */
  fed: boolean
}

export function analyzeCommand(line: string, place: ShellPlace, tools: { parse: ShellParser; secrets: Secrets }): CommandFacts {
  const effects: Effect[] = []
  const { home } = place
  let unsure: string | undefined

  function walkLine(text: string, state: State, depth: number): void {
    const root = text.length > MAX_LENGTH || depth > MAX_DEPTH || ODD.test(text) ? undefined : tools.parse(text)
    if (!root || root.hasError) {
      unsure ??=
        text.length > MAX_LENGTH
          ? 'It is too long to be read for certain.'
          : ODD.test(text)
            ? 'It holds characters that cannot be seen.'
            : 'It cannot be parsed for certain.'
      return
    }
    try {
      walk(root, state, depth)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      unsure ??= 'It is nested too deeply to be read for certain.'
    }
  }

  const walkAll = (nodes: readonly Node[], state: State, depth: number): void => {
    for (const node of nodes) walk(node, state, depth)
  }
  const inside = (node: Node, state: State, depth: number, fed = state.fed): void => {
    walkAll(node.namedChildren, { cwd: state.cwd, fed }, depth)
  }

  function walk(node: Node, state: State, depth: number): void {
    switch (node.type) {
      case 'comment':
      case 'heredoc_start':
      case 'heredoc_end':
      case 'heredoc_content':
      case 'file_descriptor':
      case 'variable_name':
      case 'test_operator':
      case 'string_content':
        return
      case 'program':
      case 'list':
      case 'heredoc_body':
      case 'compound_statement':
      case 'do_group':
      case 'negated_command':
      case 'if_statement':
      case 'elif_clause':
      case 'else_clause':
        walkAll(node.namedChildren, state, depth)
        return
      case 'subshell':
      case 'command_substitution':
      case 'process_substitution':
        inside(node, state, depth)
        return
      case 'pipeline':
        for (const [i, part] of node.namedChildren.entries()) {
          const before = node.namedChildren[i - 1]
          walk(part, { cwd: state.cwd, fed: state.fed || (before !== undefined && !printsWords(before)) }, depth)
        }
        return
      case 'redirected_statement':
        redirected(node, state, depth)
        return
      case 'command':
        command(node, state, depth)
        return
      case 'variable_assignment':
        assignment(node, state, depth)
        return
      case 'while_statement':
      case 'for_statement':
      case 'c_style_for_statement':
      case 'case_statement':
      case 'case_item':
        // what runs how often, and where it is then, is not known beforehand
        walkAll(node.namedChildren, state, depth)
        state.cwd = changesFolder(node) ? undefined : state.cwd
        return
      case 'test_command':
        // a number in it is worked out, and working one out can run commands, quotes or not
        note({ what: node.text, unsure: 'What a test works out is not known beforehand.' })
        walkAll(commandsIn(node), state, depth)
        return
      case 'word':
      case 'number':
      case 'string':
      case 'raw_string':
      case 'ansi_c_string':
      case 'concatenation':
      case 'expansion':
      case 'simple_expansion':
        walkAll(commandsIn(node), state, depth)
        return
      case 'function_definition':
      case 'declaration_command':
      case 'unset_command':
        note({ what: node.text, unsure: 'It changes what words mean for the commands after it.' })
        inside(node, state, depth)
        return
      default:
        unsure ??= `${node.text.slice(0, 60)} is not understood.`
        walkAll(node.namedChildren, state, depth)
    }
  }

  const note = (effect: Partial<Effect> & { what: string }): void => {
    effects.push({ words: [], kind: 'run', reads: [], writes: [], hosts: [], network: false, sends: false, wrapper: false, ...effect })
  }

  function assignment(node: Node, state: State, depth: number): void {
    const name = node.childForFieldName('name')?.text ?? ''
    walkAll(commandsIn(node), state, depth)
    if (!/^(LC_[A-Z]+|LANG|LANGUAGE|TZ|NO_COLOR|COLUMNS)$/.test(name))
      note({ what: node.text, unsure: `${name} may change what programs do.` })
  }

  function redirected(node: Node, state: State, depth: number): void {
    const { fed } = state
    for (const redirect of node.namedChildren.filter((child) => child.type.endsWith('_redirect'))) redirection(redirect, state, depth)
    const body = node.childForFieldName('body')
    if (body) walk(body, state, depth)
    state.fed = fed
  }

  function redirection(node: Node, state: State, depth: number): void {
    if (node.type !== 'file_redirect') {
      // words of the line itself, unless a command or a variable is in them
      const works = /[$`]/.test(node.text)
      state.fed ||= works
      // the grammar does not see into backquotes there
      const start = node.namedChildren.find((child) => child.type === 'heredoc_start')?.text ?? ''
      if (works && start !== '' && !/['"\\]/.test(start))
        note({ what: node.text, unsure: 'A here document in it is worked out by the shell.' })
      for (const child of node.namedChildren) {
        if (child.type === 'file_redirect') redirection(child, state, depth)
        else walk(child, state, depth)
      }
      return
    }
    const target = node.childForFieldName('destination')
    const operator = node.children.find((child) => /[<>]/.test(child.type))?.type ?? ''
    if (!target || (/&$/.test(operator) && /^(\d+|-)$/.test(target.text))) return
    const word = wordOf(target, { home, cwd: state.cwd })
    walkAll(word.nested, state, depth)
    if (target.type === 'process_substitution') return
    const reads = operator === '<'
    const remote = /^\/dev\/(?:tcp|udp)\/([^/]+)/.exec(word.value ?? '')
    if (remote) {
      note({ what: node.text, kind: 'write', hosts: [remote[1] ?? ''], network: true, sends: !reads })
      return
    }
    if (/^\/dev\/(null|stdin|stdout|stderr|fd\/\d+)$/.test(word.value ?? '')) return
    const path = pathOf(word, state.cwd)
    if (reads) state.fed = true
    if (reads) note({ what: node.text, kind: 'read', ...(path === undefined ? { unsure: UNKNOWN } : { reads: [path] }) })
    else note({ what: node.text, kind: 'write', ...(path === undefined ? { unsure: UNKNOWN } : { writes: [path] }) })
  }

  function command(node: Node, state: State, depth: number): void {
    const known = { home, cwd: state.cwd }
    const words: Word[] = []
    for (const child of node.namedChildren) {
      if (child.type === 'variable_assignment') assignment(child, state, depth)
      else if (child.type.endsWith('_redirect')) redirection(child, state, depth)
      else {
        const word = wordOf(child, known)
        walkAll(word.nested, state, depth)
        words.push(word)
      }
    }
    if (words.length > 0) simple(words, node.text, state, depth)
  }

  /** One simple command, its words as they are known. */
  function simple(words: readonly Word[], what: string, state: State, depth: number): void {
    const [head, ...rest] = words
    const program = head?.value === undefined || head.glob ? undefined : programName(head.value)
    if (program === undefined) {
      note({ what, words: words.map(valueOf), unsure: 'Which program it starts is not known beforehand.' })
      return
    }
    // the grammar takes a word of the language for a program where it does not expect one
    if (RESERVED.has(program)) unsure ??= 'It cannot be parsed for certain.'
    const wrapper = WRAPPERS.get(program)
    if (SHELLS.has(program)) shell(program, words, what, state, depth)
    else if (program === 'eval') evaluate(rest, what, state, depth)
    else if (wrapper) wrapped(program, wrapper, rest, what, state, depth)
    else {
      if (program === 'find') findActions(rest, state, depth)
      plain(program, rest, what, state)
      if (program === 'cd' || program === 'pushd' || program === 'popd') changeFolder(program, rest, state)
    }
  }

  function plain(program: string, rest: readonly Word[], what: string, state: State): void {
    const reader = READERS.get(program)
    const reads = reader?.(rest, state.cwd)
    if (reads) {
      const { paths, missing, secret } = readPaths(reads, reads.cwd ?? state.cwd, program)
      note({
        what,
        words: [program, ...normal(program, rest)],
        kind: 'read',
        reads: secret === undefined ? paths : [...paths, secret],
        ...(missing && { unsure: UNKNOWN })
      })
      return
    }
    const names = rest.filter((w) => w.value?.startsWith('-') !== true)
    const paths = names.flatMap((w) => pathOf(w, program === 'git' ? gitCall(rest, state.cwd).cwd : state.cwd) ?? [])
    const network = NETWORK.has(program) || fetches(program, rest)
    const written = WRITERS.get(program)
    const writes = written === undefined ? writesByOption(program, rest, state) : written === 'all' ? paths : paths.slice(-1)
    const secrets = program === 'echo' ? [] : secretsAmong(rest, state.cwd)
    note({
      what,
      words: [program, ...normal(program, rest)],
      reads: [...(written === 'last' || program === 'mv' ? paths : []), ...secrets],
      writes,
      hosts: network ? hostsOf(rest) : [],
      network,
      sends: sendsFile(program, rest) || (NETWORK.has(program) && (state.fed || rest.some((w) => w.nested.length > 0))),
      ...(rest.some((w) => w.value === undefined || w.glob) && { unsure: UNKNOWN })
    })
  }

  function readPaths(reads: Reads, cwd: string | undefined, program: string): { paths: string[]; missing: boolean; secret?: string } {
    const paths: string[] = []
    let missing = false
    let secret: string | undefined
    for (const word of reads.files) {
      if (word.value === '-') continue
      const from = program === 'git' ? word.value?.replace(/^[^:]*:(?!\/\/)/, '') : word.value
      if (from === undefined || cwd === undefined) missing ||= word.value === undefined || !word.value.startsWith('/')
      const path = from === undefined ? undefined : pathOf({ ...word, value: from }, cwd)
      if (path === undefined) missing = true
      else paths.push(path)
      if (word.glob && word.value !== undefined) secret ??= globSecret(word.value, cwd)
      if (path !== undefined && reads.below) secret ??= tools.secrets.below(path)
    }
    return { paths, missing, ...(secret !== undefined && { secret }) }
  }

  /** Words of a program that is not known which lead to a secret. */
  function secretsAmong(words: readonly Word[], cwd: string | undefined): string[] {
    return words.flatMap((word, i) => {
      if (/^(-m|--message|--title|--body)$/.test(words[i - 1]?.value ?? '')) return []
      const value = word.value?.replace(/^(--?[\w-]+=|[^/=]*=|@)/, '')
      if (value === undefined || cwd === undefined) return []
      const path = realPath(absolutePath(value, cwd, home))
      if (tools.secrets.has(path)) return [path]
      return (word.glob ? globSecret(value, cwd) : undefined) ?? []
    })
  }

  function globSecret(pattern: string, cwd: string | undefined): string | undefined {
    const cut = pattern.lastIndexOf('/')
    const folder = cut < 0 ? cwd : cwd === undefined ? undefined : absolutePath(pattern.slice(0, cut) || '/', cwd, home)
    if (folder === undefined || /[*?[]/.test(pattern.slice(0, Math.max(cut, 0)))) return undefined
    return tools.secrets.inGlob(pattern.slice(cut + 1), realPath(folder))
  }

  /** Undefined: it cannot be known. */
  function pathOf(word: Pick<Word, 'value'>, cwd: string | undefined): string | undefined {
    const { value } = word
    if (value === undefined || (cwd === undefined && !value.startsWith('/'))) return undefined
    return realPath(absolutePath(value, cwd ?? '/', '/'))
  }

  function writesByOption(program: string, rest: readonly Word[], state: State): string[] {
    const values = rest.map((w) => w.value ?? '')
    const named =
      program === 'dd'
        ? values.flatMap((v) => (v.startsWith('of=') ? [v.slice(3)] : []))
        : values.flatMap((v, i) =>
            /^(-o|-O|--output|--output-document|-C|--directory|--target-directory)$/.test(values[i - 1] ?? '')
              ? [v]
              : (/^--output=(.*)$/.exec(v)?.[1] ?? [])
          )
    const inPlace =
      program === 'sed'
        ? split(rest, 'efl')
            .operands.slice(1)
            .flatMap((w) => w.value ?? [])
        : program === 'sort'
          ? values.flatMap((v) => /^-o(.+)$/.exec(v)?.[1] ?? [])
          : []
    return [...named, ...inPlace].flatMap((value) => pathOf({ value }, state.cwd) ?? [])
  }

  function shell(program: string, words: readonly Word[], what: string, state: State, depth: number): void {
    const rest = words.slice(1)
    const at = rest.findIndex((w) => /^-[a-zA-Z]*c$/.test(w.value ?? ''))
    note({
      what,
      words: words.map(valueOf),
      wrapper: true,
      reads: secretsAmong(rest, state.cwd),
      ...(at < 0 && { unsure: `What ${program} would run is not in the line.` })
    })
    const script = rest[at + 1]
    if (at >= 0 && script?.value !== undefined) walkLine(script.value, { ...state }, depth + 1)
    else if (at >= 0) unsure ??= 'A script in it is not known beforehand.'
  }

  function evaluate(rest: readonly Word[], what: string, state: State, depth: number): void {
    note({ what, words: ['eval', ...rest.map(valueOf)], wrapper: true })
    if (rest.every((w) => w.value !== undefined)) walkLine(rest.map((w) => w.value).join(' '), state, depth + 1)
    else unsure ??= 'A script in it is not known beforehand.'
  }

  function wrapped(
    program: string,
    { short, own }: { short: string; own: number },
    rest: readonly Word[],
    what: string,
    state: State,
    depth: number
  ): void {
    note({
      what,
      words: [program, ...rest.map(valueOf)],
      wrapper: true,
      ...(program === 'env' && rest.some((w) => /^-[a-zA-Z]*S/.test(w.value ?? '')) && { unsure: UNKNOWN })
    })
    let i = 0
    for (; i < rest.length; i++) {
      const text = rest[i]?.value
      if (text === undefined) break
      if (text === '--') {
        i++
        break
      }
      if (program === 'env' && /^[A-Za-z_]\w*=/.test(text)) continue
      if (!text.startsWith('-') || text === '-') break
      if (!text.startsWith('--') && text.length === 2 && short.includes(text.charAt(1))) i++
    }
    const inner = rest.slice(i + own)
    // what follows `{}` or comes by xargs is not known: it may be any file
    if (inner.length > 0) simple(inner, inner.map((w) => w.source).join(' '), { ...state, fed: state.fed && program !== 'xargs' }, depth)
    if (program === 'exec' || program === 'builtin') state.cwd = /^(cd|pushd|popd)$/.test(inner[0]?.value ?? '') ? undefined : state.cwd
  }

  function findActions(rest: readonly Word[], state: State, depth: number): void {
    for (const [i, word] of rest.entries()) {
      const action = word.value ?? ''
      if (/^-(exec|execdir|ok|okdir)$/.test(action)) {
        const end = rest.findIndex((w, j) => j > i && (w.value === ';' || (w.value === '+' && rest[j - 1]?.value === '{}')))
        const inner = rest.slice(i + 1, end < 0 ? undefined : end)
        // what is found takes the place of `{}`
        const unknown = inner.map(({ value, ...w }) => (value === undefined || value.includes('{}') ? w : { ...w, value }))
        if (inner.length > 0) simple(unknown, inner.map((w) => w.source).join(' '), { ...state }, depth)
      } else if (/^-(fprint|fprint0|fprintf|fls)$/.test(action)) {
        const path = rest[i + 1] && pathOf(rest[i + 1] as Word, state.cwd)
        note({ what: `find ${action}`, kind: 'write', ...(path === undefined ? { unsure: UNKNOWN } : { writes: [path] }) })
      }
    }
  }

  function changeFolder(program: string, rest: readonly Word[], state: State): void {
    const { operands } = split(rest, '')
    const [to] = operands
    const plainFolder = program === 'cd' && operands.length <= 1 && to?.glob !== true && to?.value !== '-'
    state.cwd = plainFolder ? pathOf(to ?? { value: home }, state.cwd) : undefined
  }

  walkLine(line, { cwd: realPath(place.cwd), fed: false }, 0)
  return { effects, ...(unsure !== undefined && { unsure }) }
}

const RESERVED = new Set('if then else elif fi for while until do done case esac select function in ! { } [['.split(' '))
const UNKNOWN = 'What it would work on is not known beforehand.'

const valueOf = ({ value }: Word): string | null => value ?? null
/** A command that prints the words that stand in the line, and nothing of this machine. */
const printsWords = (node: Node): boolean => /^(echo|printf)\s[^$`]*$/.test(node.text)

/** A program of the system goes by its name alone; one of the workspace does not become another by its name. */
const programName = (text: string): string => (/^\/(usr\/(local\/)?)?s?bin\/[^/]+$/.test(text) ? basename(text) : text)

/** Words as rules see them: git without its global options. */
function normal(program: string, rest: readonly Word[]): (string | null)[] {
  if (program !== 'git') return rest.map(valueOf)
  const { subcommand, rest: after } = gitCall(rest, '/')
  return subcommand === undefined ? rest.map(valueOf) : [subcommand, ...after.map(valueOf)]
}

function fetches(program: string, rest: readonly Word[]): boolean {
  const pattern = FETCHES.get(program)
  if (!pattern) return false
  const words = program === 'git' ? [gitCall(rest, '/').subcommand ?? ''] : rest.flatMap((w) => w.value ?? [])
  return program === 'rsync' || /^(apt|apt-get|brew|npx)$/.test(program)
    ? words.some((w) => pattern.test(w)) || program !== 'rsync'
    : pattern.test(words.find((w) => !w.startsWith('-')) ?? '')
}

const changesFolder = (node: Node): boolean => /\b(cd|pushd|popd)\b/.test(node.text)
