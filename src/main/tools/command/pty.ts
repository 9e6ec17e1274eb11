// A command on a pseudo-terminal, for programs that will not work without one.
import type { Ended, Started } from './process'

const COLUMNS = 120
const ROWS = 40

/** Throws when there are no pseudo-terminals on this system. */
export async function startOnTerminal(
  words: readonly string[],
  options: { cwd: string; env: Readonly<Record<string, string>> },
  onOutput: (bytes: Uint8Array) => void
): Promise<Started> {
  const { spawn } = await import('@lydell/node-pty')
  const [file = '', ...args] = words
  const terminal = spawn(file, args, { ...options, env: { ...options.env, TERM: 'xterm-256color' }, cols: COLUMNS, rows: ROWS })
  terminal.onData((text) => {
    onOutput(Buffer.from(text))
  })
  const ended = new Promise<Ended>((resolve) => {
    terminal.onExit(({ exitCode, signal }) => {
      resolve({ code: signal ? null : exitCode, signal: signal ? 'SIGKILL' : null, leftOver: false })
    })
  })
  const signal = (name: NodeJS.Signals): void => {
    try {
      process.kill(-terminal.pid, name)
    } catch {
      // it has ended already
    }
  }
  return {
    pid: terminal.pid,
    ended,
    async kill() {
      signal('SIGHUP')
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 80))])
      signal('SIGKILL')
    }
  }
}
