// A command as a process group of its own, and the end of everything that it started (spec T5).
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'

export interface Started {
  readonly pid: number
  /** Resolves when the command has ended and its output is complete, or is given up a moment later because something it started holds it open. */
  readonly ended: Promise<Ended>
  /** Ends all of it: asked first, then not asked any more. Resolves when that was done. */
  kill(): Promise<void>
}
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** Something that it started went on, and was ended. */
  readonly leftOver: boolean
}

/** How long processes may take to end themselves, and an output to be closed by those that the command left. */
const GRACE_MS = 80
const SETTLE_MS = 30

/** The mark by which what a command started is found again, wherever it went. */
const MARK = 'TAU_COMMAND'

/** Throws when the program cannot be started. `onOutput` gets both streams as they come. */
export async function startProcess(
  words: readonly string[],
  options: { cwd: string; env: Readonly<Record<string, string>> },
  onOutput: (bytes: Uint8Array) => void
): Promise<Started> {
  const [file = '', ...args] = words
  const id = randomUUID()
  const child = spawn(file, args, {
    cwd: options.cwd,
    env: { ...options.env, [MARK]: id },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe']
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve).once('error', reject)
  })
  const pid = child.pid ?? 0
  child.stdout.on('data', onOutput)
  child.stderr.on('data', onOutput)
  const ended = new Promise<Ended>((resolve) => {
    child.once('exit', (code, signal) => {
      const closed = setTimeout(() => {
        sweep(pid, id, 'SIGKILL')
        child.stdout.destroy()
        child.stderr.destroy()
        resolve({ code, signal, leftOver: true })
      }, GRACE_MS)
      child.once('close', () => {
        clearTimeout(closed)
        // what closed its output and goes on; what only has not been gone yet is given a moment
        setTimeout(
          () => {
            resolve({ code, signal, leftOver: sweep(pid, id, 'SIGKILL') })
          },
          marked(id).length > 0 ? SETTLE_MS : 0
        )
      })
    })
  })
  return {
    pid,
    ended,
    async kill() {
      sweep(pid, id, 'SIGTERM')
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, GRACE_MS))])
      sweep(pid, id, 'SIGKILL')
    }
  }
}

/** Sends a signal to the group and to all that carry the mark; true when there was any of those. */
function sweep(group: number, id: string, signal: NodeJS.Signals): boolean {
  const found = marked(id)
  for (const target of [-group, ...found]) {
    try {
      process.kill(target, signal)
    } catch {
      // it has ended already
    }
  }
  return found.length > 0
}

function marked(id: string): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      return readFileSync(`/proc/${name}/environ`, 'latin1').includes(`${MARK}=${id}`) && !isZombie(name) ? [Number(name)] : []
    } catch {
      return [] // not ours, or gone
    }
  })
}

const isZombie = (name: string): boolean => / Z /.test(readFileSync(`/proc/${name}/stat`, 'latin1').slice(-400).replace(/^.*\)/s, ')'))
