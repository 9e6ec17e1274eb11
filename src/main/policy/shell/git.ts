// git reads and writes, and starts whatever its configuration names: a repository that was written by somebody else may name anything.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { split, uses } from './options'
import type { Word } from './words'

export interface GitCall {
  /** Undefined: there is none, or it is not known. */
  readonly subcommand?: string
  readonly rest: readonly Word[]
  /** Folder that it works in; undefined: not known. */
  readonly cwd: string | undefined
  /** Global options that may start programs or lead elsewhere. */
  readonly odd: boolean
}

const WITH_VALUE = ['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--exec-path', '--super-prefix', '--config-env', '--attr-source']
const HARMLESS = ['--no-pager', '-P', '--no-optional-locks', '--literal-pathspecs', '--no-replace-objects', '--no-advice']

export function gitCall(words: readonly Word[], cwd: string | undefined): GitCall {
  let at = cwd
  let odd = false
  for (let i = 0; i < words.length; i++) {
    const text = words[i]?.value
    if (text === undefined) return { rest: words.slice(i), cwd: at, odd: true }
    if (!text.startsWith('-')) return { subcommand: text, rest: words.slice(i + 1), cwd: at, odd }
    if (text === '-C') {
      const to = words[++i]
      at = at !== undefined && to?.value !== undefined && !to.glob ? resolve(at, to.value) : undefined
    } else if (!HARMLESS.includes(text)) {
      odd = true
      if (WITH_VALUE.includes(text)) i++
    }
  }
  return { rest: [], cwd: at, odd }
}

const READERS = ['status', 'log', 'diff', 'show']
const WRITERS = ['--output', '--ext-diff', '--textconv', '--show-signature', '--no-index', '--paginate', '--orderfile']

/** Whether a call only reads: which words are paths or revisions, or why not. */
export function gitReads(call: GitCall): { reads: boolean; paths: readonly Word[] } {
  const { subcommand = '', rest } = call
  const { options, values, operands, unsure } = split(rest, 'GSOLnU', [
    '--format',
    '--grep',
    '--author',
    '--committer',
    '--since',
    '--until',
    '--after',
    '--before'
  ])
  const odd = call.odd || unsure || uses(options, ...WRITERS) || options.includes('-O') || operands.some((w) => w.value === undefined)
  const reads = READERS.includes(subcommand) && !odd && call.cwd !== undefined && !startsPrograms(call.cwd, subcommand)
  const ranges = (values.get('-L') ?? []).map((w) => ({ ...w, value: (w.value ?? '').replace(/^.*:/, '') }))
  return { reads, paths: [...operands, ...ranges] }
}

const NAMES_PROGRAMS =
  /^\s*(?:\[\s*include|path\s*=|fsmonitor|hookspath|external|textconv|command|clean|smudge|process|program|pager|editor|sshcommand|showsignature|askpass|worktree|alternaterefscommand|\w+\s*=\s*!)/im

const judged = new Map<string, { readonly stamp: string; readonly names: boolean }>()

/** Whether the repository's own configuration or hooks name programs that reading it may start. */
function startsPrograms(cwd: string, subcommand: string): boolean {
  const folder = gitFolder(cwd)
  if (folder === undefined) return false
  if (subcommand === 'status' && existsSync(join(folder, 'hooks/post-index-change'))) return true
  return ['config', 'config.worktree'].some((name) => {
    const file = join(folder, name)
    const info = statSync(file, { throwIfNoEntry: false })
    if (!info) return false
    const stamp = `${String(info.mtimeMs)} ${String(info.ctimeMs)} ${String(info.size)}`
    const known = judged.get(file)
    if (known?.stamp === stamp) return known.names
    const names = info.size > 200_000 || NAMES_PROGRAMS.test(readOrOdd(file))
    judged.set(file, { stamp, names })
    return names
  })
}

/** A file that cannot be read is taken for one that names programs. */
function readOrOdd(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return '[include'
  }
}

function gitFolder(cwd: string): string | undefined {
  for (let at = cwd; ; at = dirname(at)) {
    const info = statSync(join(at, '.git'), { throwIfNoEntry: false })
    if (info?.isDirectory()) return join(at, '.git')
    // a file that points elsewhere: a work tree of a repository that may be anybody's
    if (info) return resolve(at, /^gitdir: (.*)$/m.exec(readOrOdd(join(at, '.git')))?.[1] ?? '.git')
    if (dirname(at) === at) return undefined
  }
}
