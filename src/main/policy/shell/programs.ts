// What is known of programs: those that only read, and how; those that write what they are given; those that reach for the network; those that
// start others.
import { gitCall, gitReads } from './git'
import { cut, split, uses } from './options'
import { awkOnlyReads, jqOnlyReads, sedOnlyReads } from './scripts'
import type { Word } from './words'

/** What a listed program would read; undefined: it does more than read, or it cannot be known. */
export interface Reads {
  readonly files: readonly Word[]
  /** It goes through folders. */
  readonly below?: boolean
  /** Folder that its files are in, where that is not the present one. */
  readonly cwd?: string
}
type Reader = (words: readonly Word[], cwd: string | undefined) => Reads | undefined

const known = (words: readonly Word[]): boolean => words.every((w) => w.value !== undefined)
/** A program whose operands are files to read. */
const files =
  (short: string, long: readonly string[], ...never: string[]): Reader =>
  (words) => {
    const { options, operands, unsure } = split(words, short, long)
    return unsure || uses(options, ...never) || !known(words) ? undefined : { files: operands }
  }
/** Without operands it is about the present folder. */
function inFolder(reader: Reader): Reader {
  return (words, cwd) => {
    const reads = reader(words, cwd)
    return reads?.files.length === 0 ? { ...reads, files: HERE } : reads
  }
}
const nothing: Reader = (words) => (known(words) ? { files: [] } : undefined)

function grep(words: readonly Word[]): Reads | undefined {
  const { options, values, operands, unsure } = split(words, 'efmABCdD', ['--regexp', '--file', '--max-count', '--after-context'])
  if (unsure || !known(words) || cut(options, '--regexp', '--file')) return undefined
  const hasPattern = values.has('-e') || values.has('--regexp') || values.has('-f') || values.has('--file')
  const lists = [...(values.get('-f') ?? []), ...(values.get('--file') ?? [])]
  const below = uses(options, '-r', '-R', '--recursive', '--dereference-recursive') || values.get('-d')?.[0]?.value === 'recurse'
  const given = operands.slice(hasPattern ? 0 : 1)
  return { files: [...lists, ...(below && given.length === 0 ? HERE : given)], below }
}

function ripgrep(words: readonly Word[]): Reads | undefined {
  const long = ['--regexp', '--file', '--glob', '--type', '--max-count', '--context', '--sort', '--max-depth']
  const { options, values, operands, unsure } = split(words, 'efgtTmABCjMdE', long)
  if (unsure || !known(words) || uses(options, '--pre', '--pre-glob', '--hostname-bin', '--search-zip', '-z')) return undefined
  const lists = [...(values.get('-f') ?? []), ...(values.get('--file') ?? [])]
  const hasPattern = lists.length > 0 || values.has('-e') || values.has('--regexp') || uses(options, '--files')
  const given = operands.slice(hasPattern ? 0 : 1)
  // what is ignored or hidden is passed over, unless that is switched off
  const below = uses(options, '-u', '--unrestricted', '--hidden', '-.', '--no-ignore', '--glob', '-g')
  return { files: [...lists, ...(given.length === 0 ? HERE : given)], below }
}

function find(words: readonly Word[]): Reads | undefined {
  const acts = /^-(exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls|files0-from)$/
  if (!known(words) || words.some((w) => acts.test(w.value ?? ''))) return undefined
  const end = words.findIndex((w) => /^[-(!]/.test(w.value ?? '') && !/^-[HLPOD]/.test(w.value ?? ''))
  const tests = end < 0 ? [] : words.slice(end)
  const compared = tests.flatMap((w, i) => (/^-(newer\w*|samefile|anewer|cnewer)$/.test(w.value ?? '') ? (tests[i + 1] ?? []) : []))
  const folders = (end < 0 ? words : words.slice(0, end)).filter((w) => w.value?.startsWith('-') !== true)
  return { files: [...(folders.length === 0 ? HERE : folders), ...compared] }
}

function sed(words: readonly Word[]): Reads | undefined {
  const { options, values, operands, unsure } = split(words, 'efl', ['--expression', '--file', '--line-length'])
  if (unsure || !known(words) || uses(options, '-i', '--in-place', '-f', '--file') || cut(options, '--expression')) return undefined
  const scripts = [...(values.get('-e') ?? []), ...(values.get('--expression') ?? [])]
  const all = scripts.length > 0 ? scripts : operands.slice(0, 1)
  return all.every((w) => sedOnlyReads(w.value ?? '')) ? { files: operands.slice(scripts.length > 0 ? 0 : 1) } : undefined
}

function awk(words: readonly Word[]): Reads | undefined {
  const { options, operands, unsure } = split(words, 'vF', ['--assign', '--field-separator'])
  const allowed = options.every((o) => ['-v', '-F', '--assign', '--field-separator'].includes(o))
  const [program, ...rest] = operands
  if (unsure || !allowed || !known(words) || !program || !awkOnlyReads(program.value ?? '')) return undefined
  return { files: rest.filter((w) => !/^\w+=/.test(w.value ?? '')) }
}

function jq(words: readonly Word[]): Reads | undefined {
  const { options, operands, unsure } = split(words, 'L', ['--indent', '--tab', '--arg', '--argjson', '--library-path'])
  const odd = uses(
    options,
    '-f',
    '--from-file',
    '-L',
    '--library-path',
    '--rawfile',
    '--slurpfile',
    '--args',
    '--jsonargs',
    '--arg',
    '--argjson'
  )
  const [program, ...rest] = operands
  if (unsure || odd || !known(words) || !jqOnlyReads(program?.value ?? '')) return undefined
  return { files: rest }
}

function git(words: readonly Word[], cwd: string | undefined): Reads | undefined {
  const call = gitCall(words, cwd)
  const { reads, paths } = gitReads(call)
  return reads ? { files: [...paths, ...HERE], ...(call.cwd !== undefined && { cwd: call.cwd }) } : undefined
}

const HERE: readonly Word[] = [{ source: '.', value: '.', glob: false, home: false, nested: [] }]

/** Programs that are let through when they only read; the person's rules may add others. */
export const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['ls', inFolder(files('wITD', ['--width', '--ignore', '--tabsize', '--hide']))],
  ['cat', files('', [])],
  ['head', files('nc', ['--lines', '--bytes'])],
  ['tail', files('ncs', ['--lines', '--bytes', '--sleep-interval', '--pid'])],
  ['wc', files('', [], '--files0-from')],
  ['grep', grep],
  ['rg', ripgrep],
  ['find', find],
  ['sed', sed],
  ['awk', awk],
  ['git', git],
  ['pwd', nothing],
  ['cd', nothing],
  ['echo', nothing],
  ['printf', (words) => (words.some((w) => w.value?.startsWith('-v') === true) ? undefined : nothing(words, undefined))],
  ['true', nothing],
  ['false', nothing],
  [':', nothing],
  ['stat', files('c', ['--format', '--printf'])],
  [
    'file',
    files(
      'eFP',
      ['--exclude', '--separator'],
      '-C',
      '--compile',
      '-m',
      '--magic-file',
      '-f',
      '--files-from',
      '-z',
      '-Z',
      '-S',
      '--uncompress'
    )
  ],
  [
    'sort',
    files(
      'kStT',
      ['--key', '--buffer-size', '--field-separator', '--parallel', '--batch-size'],
      '-o',
      '--output',
      '--compress-program',
      '-T',
      '--temporary-directory',
      '--files0-from',
      '--random-source'
    )
  ],
  ['uniq', (words) => onlyIf(files('fsw', [])(words, undefined), (r) => r.files.length < 2)],
  ['cut', files('bcdf', ['--bytes', '--characters', '--delimiter', '--fields', '--output-delimiter'])],
  ['tr', nothing],
  ['diff', files('CIUWFx', ['--context', '--unified', '--exclude', '--label'], '--from-file', '--to-file')],
  ['jq', jq],
  ['which', nothing],
  [
    'date',
    (words) =>
      onlyIf(files('df', ['--date', '--file'], '-s', '--set', '-f', '--file')(words, undefined), (r) =>
        r.files.every((w) => w.value?.startsWith('+') === true)
      ) && { files: [] }
  ],
  ['du', inFolder(files('Bdt', ['--block-size', '--max-depth', '--exclude'], '--files0-from', '-X', '--exclude-from'))]
])

const onlyIf = (reads: Reads | undefined, holds: (reads: Reads) => boolean): Reads | undefined =>
  reads && holds(reads) ? reads : undefined

/** Programs whose operands are written, removed or changed. `last`: only the last one is. */
export const WRITERS: ReadonlyMap<string, 'all' | 'last'> = new Map<string, 'all' | 'last'>([
  ...[
    'rm',
    'rmdir',
    'mkdir',
    'touch',
    'tee',
    'truncate',
    'shred',
    'unlink',
    'mv',
    'chmod',
    'chown',
    'chgrp',
    'mkfifo',
    'mknod',
    'setfacl',
    'chattr'
  ].map((n) => [n, 'all'] as const),
  ...['cp', 'ln', 'install', 'rsync'].map((n) => [n, 'last'] as const)
])

export const NETWORK: ReadonlySet<string> = new Set(
  'curl wget nc ncat netcat socat telnet ssh scp sftp ftp ping ping6 dig nslookup host traceroute http https xh aria2c lynx w3m links rclone mosh whois openssl gh aws gcloud az kubectl docker podman'.split(
    ' '
  )
)
/** Programs that fetch from the network in some of their subcommands. */
export const FETCHES: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    git: /^(push|fetch|pull|clone|ls-remote|submodule|remote|send-email|lfs)$/,
    npm: /^(i|ci|install|add|update|publish|view|audit|outdated|exec|create|init|login|search)$/,
    pnpm: /^(i|install|add|update|publish|dlx|create|audit|outdated)$/,
    yarn: /^(install|add|upgrade|publish|dlx|create)$/,
    bun: /^(i|install|add|update|publish|create|x)$/,
    pip: /^(install|download|search)$/,
    pip3: /^(install|download|search)$/,
    uv: /^(pip|add|sync|lock|tool|run)$/,
    poetry: /^(install|add|update|lock|publish)$/,
    cargo: /^(install|fetch|update|add|publish|search)$/,
    go: /^(get|install|mod|download)$/,
    gem: /^(install|update|push)$/,
    apt: /^/,
    'apt-get': /^/,
    brew: /^/,
    npx: /^/,
    rsync: /:/
  })
)

/** Programs that start the one named in their words: options with a value, and how many words of their own come before it. */
export const WRAPPERS: ReadonlyMap<string, { readonly short: string; readonly own: number }> = new Map([
  ['env', { short: 'uCS', own: 0 }],
  ['nice', { short: 'n', own: 0 }],
  ['nohup', { short: '', own: 0 }],
  ['time', { short: 'fo', own: 0 }],
  ['timeout', { short: 'ks', own: 1 }],
  ['command', { short: '', own: 0 }],
  ['builtin', { short: '', own: 0 }],
  ['exec', { short: 'a', own: 0 }],
  ['stdbuf', { short: 'ioe', own: 0 }],
  ['setsid', { short: '', own: 0 }],
  ['ionice', { short: 'cnpPu', own: 0 }],
  ['chrt', { short: 'TPD', own: 1 }],
  ['taskset', { short: '', own: 1 }],
  ['sudo', { short: 'ugpChDRrTt', own: 0 }],
  ['doas', { short: 'uC', own: 0 }],
  ['chroot', { short: '', own: 1 }],
  ['unshare', { short: 'SRw', own: 0 }],
  ['strace', { short: 'abeEIopPsSuU', own: 0 }],
  ['ltrace', { short: 'abeoplsSu', own: 0 }],
  ['xargs', { short: 'adEILnPs', own: 0 }],
  ['parallel', { short: 'jPa', own: 0 }],
  ['watch', { short: 'nd', own: 0 }],
  ['flock', { short: 'wE', own: 1 }],
  ['busybox', { short: '', own: 0 }],
  ['coproc', { short: '', own: 0 }]
])
export const SHELLS: ReadonlySet<string> = new Set('sh bash dash zsh ksh ash mksh fish rbash'.split(' '))
