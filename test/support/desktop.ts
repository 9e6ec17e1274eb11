// Drives the built desktop app in the stand-in for Electron (test/electron): starts it as a process of its own, looks at its page over
// Chromium's DevTools port, and hears what its main process did.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'

/** The repository's root, where tests are run. */
export const root = process.cwd()

interface StandInEvent {
  readonly event: string
  readonly [detail: string]: unknown
}
/** One start of the app, from the command line to its exit code. */
export interface DesktopProcess {
  readonly pid: number
  readonly events: readonly StandInEvent[]
  /** The next event of that name that was not waited for yet. */
  heard(event: string): Promise<StandInEvent>
  command(name: string, argument?: string): Promise<unknown>
  /** Resolves with the exit code, or the signal. */
  readonly ended: Promise<number | string>
  kill(): void
}
export interface Desktop extends DesktopProcess {
  readonly page: Page
}
export interface DesktopOptions {
  readonly home: string
  readonly workspace: string
  /** The built entry; default: the build's. */
  readonly entry?: string
  readonly env?: NodeJS.ProcessEnv
}

/** Starts the app without waiting for a window: it may have a reason not to open one. */
export function startDesktop({ home, workspace, entry = join(root, 'out/main/index.js'), env }: DesktopOptions): DesktopProcess {
  const args = [entry, `--home=${home}`, `--workspace=${workspace}`]
  const child = fork(join(root, 'test/electron/run.mjs'), args, {
    env: { ...process.env, ...env },
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc']
  })
  return follow(child)
}

/** Starts the app and waits for its window. */
export async function openDesktop(options: DesktopOptions): Promise<Desktop> {
  const port = await freePort()
  const app = startDesktop({ ...options, env: { ...options.env, TAU_TEST_DEVTOOLS: String(port) } })
  const shown = await Promise.race([app.heard('shown'), app.ended])
  if (typeof shown !== 'object') throw new Error(`the app ended (${String(shown)}) before it showed a window`)
  const browser = await chromium.connectOverCDP(`http://127.0.0.1:${String(port)}`)
  const page = browser.contexts()[0]?.pages()[0]
  if (!page) throw new Error('the window has no page')
  page.setDefaultTimeout(20_000)
  return { ...app, page }
}

function follow(child: ChildProcess): DesktopProcess {
  const events: StandInEvent[] = []
  const seen = new Set<StandInEvent>()
  let wake = Promise.withResolvers<undefined>()
  let commands = 0
  child.on('message', (message) => {
    events.push(message as StandInEvent)
    wake.resolve(undefined)
    wake = Promise.withResolvers()
  })
  const find = async (fits: (event: StandInEvent) => boolean): Promise<StandInEvent> => {
    for (;;) {
      const found = events.find((e) => !seen.has(e) && fits(e))
      if (found) {
        seen.add(found)
        return found
      }
      await wake.promise
    }
  }
  return {
    pid: child.pid ?? 0,
    events,
    heard: (event) => find((e) => e.event === event),
    async command(name, argument = '') {
      const id = ++commands
      child.send({ id, command: name, argument })
      return (await find((e) => e.event === 'answer' && e['id'] === id))['value']
    },
    ended: once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string),
    kill: () => void child.kill('SIGKILL')
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address ? address.port : 0
}

export interface ProcessInfo {
  readonly pid: number
  readonly command: string
}

/** Processes below `pid`, as Linux knows them; empty on other systems. */
export function descendantsOf(pid: number): ProcessInfo[] {
  if (process.platform !== 'linux') return []
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)))
  const below = (parent: number): ProcessInfo[] => all.filter((p) => p.parent === parent).flatMap((p) => [p, ...below(p.pid)])
  return below(pid)
}

/** Whether a process still runs; one that only waits to be collected does not. */
export const isRunning = (pid: number): boolean => readProcess(pid).length > 0

function readProcess(pid: number): (ProcessInfo & { readonly parent: number })[] {
  try {
    const [, state, parent] = /\) (\S) (\d+)/.exec(readFileSync(`/proc/${String(pid)}/stat`, 'utf8')) ?? []
    if (state === 'Z') return []
    return [{ pid, parent: Number(parent), command: readFileSync(`/proc/${String(pid)}/cmdline`, 'utf8').replaceAll('\0', ' ') }]
  } catch {
    return [] // it ended meanwhile
  }
}
