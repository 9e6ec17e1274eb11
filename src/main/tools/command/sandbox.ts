// The system's sandbox for commands (spec G3): the workspace can be written, the rest only read, what holds secrets is hidden, and there is no
// network unless the decision gives it. bubblewrap does it on Linux; elsewhere there is none, and the approval says so (docs/decisions/013).
import { execFile } from 'node:child_process'
import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import type { Access } from '../../../shared/policy'

export interface Sandbox {
  readonly kind: 'bubblewrap' | 'none'
  /** Why there is none. */
  readonly why?: string
  /** The words that run `words` inside, in `cwd`. */
  wrap(words: readonly string[], place: { workspace: string; cwd: string; access: Access }): readonly string[]
}

/** Folders and files of a person's home that commands do not see. */
const HIDDEN = [
  '.ssh .aws .azure .gnupg .kube .docker .config/gcloud .config/gh .password-store .local/share/keyrings .mozilla .thunderbird',
  '.config/google-chrome .config/chromium .config/BraveSoftware .netrc .npmrc .pypirc .pgpass .my.cnf .git-credentials .bash_history .zsh_history'
].flatMap((line) => line.split(' '))

const run = promisify(execFile)

/** `own`: Tau's own folders. Tries whether the sandbox works here. */
export async function createSandbox(own: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Sandbox> {
  const none = (why: string): Sandbox => ({ kind: 'none', why, wrap: (words) => words })
  if (process.platform !== 'linux') return none('Tau knows no sandbox for this system.')
  const bwrap = (env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'bwrap'))
    .find((path) => existsSync(path))
  if (bwrap === undefined) return none('bubblewrap is not installed (the package is called bubblewrap).')
  const sandbox: Sandbox = {
    kind: 'bubblewrap',
    wrap: (words, { workspace, cwd, access }) =>
      access.unsandboxed ? words : [bwrap, ...optionsFor(workspace, access, own), '--chdir', cwd, '--', ...words]
  }
  try {
    const [file = '', ...args] = sandbox.wrap(['true'], {
      workspace: realpathSync(tmpdir()),
      cwd: '/',
      access: { network: false, reads: [], writes: [], unsandboxed: false }
    })
    await run(file, args, { timeout: 5_000 })
    return sandbox
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim().split('\n')[0] : ''
    return none(`bubblewrap does not work here${said ? `: ${said}` : ''}.`)
  }
}

function optionsFor(workspace: string, access: Access, own: readonly string[]): string[] {
  const home = homedir()
  const hide = [...HIDDEN.map((name) => join(home, name)), ...own].filter(
    (path) => !access.reads.some((given) => given === path || given.startsWith(`${path}/`))
  )
  const resolver = ['/run/systemd/resolve', '/run/NetworkManager', '/run/resolvconf'].filter((path) => access.network && existsSync(path))
  return [
    // it ends with us, and whatever it started ends with it
    '--die-with-parent',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    ...(access.network ? [] : ['--unshare-net']),
    ...['--ro-bind', '/', '/'],
    ...['--dev', '/dev'],
    ...['--proc', '/proc'],
    // sockets of the system and of the person's session lead out of here
    ...['--tmpfs', '/run'],
    ...resolver.flatMap((path) => ['--ro-bind', path, path]),
    ...['--tmpfs', '/tmp'],
    ...(isFolder('/var/tmp') ? ['--tmpfs', '/var/tmp'] : []),
    ...hide.flatMap((path) => (isFolder(path) ? ['--tmpfs', path] : existsSync(path) ? ['--ro-bind', '/dev/null', path] : [])),
    ...access.reads.flatMap((path) => ['--ro-bind-try', path, path]),
    ...['--bind', workspace, workspace],
    ...access.writes.flatMap((path) => ['--bind-try', path, path]),
    ...guarded(workspace).flatMap((path) => ['--ro-bind', path, path])
  ]
}

/** What programs outside would run if it were changed in here. */
function guarded(workspace: string): string[] {
  const git = join(workspace, '.git')
  const names = isFolder(git) ? readdirSync(git) : []
  return ['hooks', 'config', 'config.worktree'].filter((name) => names.includes(name)).map((name) => join(git, name))
}

const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
