// The built programs as a person runs them: the web host as a process of its own, the command line, and clients of the API.
import { type ChildProcess, spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createORPCClient } from '@orpc/client'
import { ClientRetryPlugin, type ClientRetryPluginContext } from '@orpc/client/plugins'
import { RPCLink } from '@orpc/client/websocket'
import type { ContractRouterClient } from '@orpc/contract'
import { WebSocket } from 'ws'
import type { contract } from '../../src/shared/contract'
import { freshFolder } from './harness'

export type Client = ContractRouterClient<typeof contract, ClientRetryPluginContext>

/** A data folder with the tiny weights in it. */
export function homeWithTinyModels(): string {
  const home = freshFolder('home')
  mkdirSync(join(home, 'models'))
  for (const name of ['tiny-tau', 'tiny-agent-think']) copyFileSync(`test/fixtures/tiny/${name}.gguf`, join(home, 'models', `${name}.gguf`))
  return home
}

/** Settings that keep a test from whatever Ollama, data folder or language this machine has. */
const cleanEnv = (more: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...process.env,
  OLLAMA_HOST: 'http://127.0.0.1:1',
  LC_ALL: 'C',
  TAU_HOME: '/nonexistent',
  TAU_PARENT: undefined,
  NO_COLOR: '1',
  ...more
})

export interface WebProcess {
  readonly child: ChildProcess
  readonly origin: string
  /** The newest link that was printed. */
  link(): string
  /** All that was printed. */
  output(): string
  /** Cookie that a browser gets for the link; uses the link up. */
  enter(): Promise<string>
  /** The cookie of our own clients, `name=value`. */
  cookie(): Promise<string>
  /** A client with that cookie, as a page is one. */
  connect(): Promise<{ api: Client; close: () => void }>
  end(signal?: NodeJS.Signals): Promise<number | null>
  /** What it said when another one had the folder and was shown instead; it has ended then. */
  readonly handedOver: string | undefined
}

export async function startWeb(options: { home: string; workspace?: string; args?: string[]; mayHandOver?: boolean }): Promise<WebProcess> {
  const args = ['out/main/web.js', '--no-open', '--port=0', `--home=${options.home}`, ...(options.args ?? [])]
  if (options.workspace !== undefined) args.push(`--workspace=${options.workspace}`)
  const child = spawn(process.execPath, args, { env: cleanEnv({}), stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const links = (): string[] => output.match(/http:\/\/\S+token=\S+/g) ?? []
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
    })
  }
  const handed = (): boolean => options.mayHandOver === true && child.exitCode === 0 && output.includes('running already')
  for (
    let waited = 0;
    !handed() && (links().length === 0 || (options.mayHandOver === true && !output.includes('Tau is ready')));
    waited += 20
  ) {
    if ((child.exitCode !== null && !output.includes('running already')) || waited > 20_000)
      throw new Error(`the host did not start:\n${output}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const origin = new URL(links()[0] ?? '').origin
  let cookie: Promise<string> | undefined
  const enter = async (): Promise<string> => {
    for (;;) {
      const link = links().at(-1) ?? ''
      const cookie = (await fetch(link, { redirect: 'manual' })).headers.get('set-cookie')
      if (cookie !== null) return cookie.split(';')[0] ?? ''
      await until('another link, as this one was used', () => links().at(-1) !== link)
    }
  }
  return {
    child,
    origin,
    handedOver: handed() ? output : undefined,
    link: () => links().at(-1) ?? '',
    output: () => output,
    enter,
    cookie: () => (cookie ??= enter()),
    async connect() {
      const socket = new WebSocket(`${origin.replace('http', 'ws')}/rpc`, { origin, headers: { cookie: await (cookie ??= enter()) } })
      const link = new RPCLink<ClientRetryPluginContext>({
        websocket: socket as unknown as globalThis.WebSocket,
        plugins: [new ClientRetryPlugin()]
      })
      return {
        api: createORPCClient(link),
        close: () => {
          socket.terminate()
        }
      }
    },
    end(signal = 'SIGTERM') {
      child.kill(signal)
      return exited
    }
  }
}

export interface CliResult {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs the built command line to its end. `onOut` sees what it prints and may end it. */
export function runCli(
  args: string[],
  options: { home: string; cwd?: string; input?: string; onOut?: (out: string, child: ChildProcess) => void }
): Promise<CliResult> {
  const child = spawn(process.execPath, [join(process.cwd(), 'out/main/cli.js'), ...args], {
    cwd: options.cwd ?? process.cwd(),
    env: cleanEnv({ TAU_HOME: options.home }),
    stdio: ['pipe', 'pipe', 'pipe']
  })
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk
    options.onOut?.(out, child)
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    err += chunk
  })
  child.stdin.end(options.input ?? '')
  return new Promise((resolve) => {
    child.once('close', (code) => {
      resolve({ code, out, err })
    })
  })
}

/** The same host behind an address whose connections can be cut, as a network does it. */
export async function cuttable(origin: string): Promise<{ origin: string; cut: () => void; mend: () => void; close: () => void }> {
  const { port } = new URL(origin)
  const open = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    if (isCut) {
      near.destroy()
      return
    }
    const far = connect(Number(port), '127.0.0.1')
    for (const [socket, other] of [[near, far] as const, [far, near] as const]) {
      open.add(socket)
      socket.on('error', () => undefined) // a cut is what this is for
      socket.on('close', () => {
        open.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const cut = (): void => {
    isCut = true
    for (const socket of open) socket.destroy()
  }
  return {
    origin: `http://127.0.0.1:${String(typeof address === 'object' ? address?.port : '')}`,
    cut,
    mend: () => {
      isCut = false
    },
    close: () => {
      cut()
      server.close()
    }
  }
}

/** Processes whose parent is `pid`, on Linux; elsewhere none are seen. */
export function childrenOf(pid: number): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((id) => statOf(id)?.parent === pid)
}

export const isAlive = (pid: number): boolean => {
  const stat = statOf(pid)
  return stat !== undefined && stat.state !== 'Z'
}

function statOf(pid: number): { state: string; parent: number } | undefined {
  try {
    const [state = '', parent = ''] = readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    return { state, parent: Number(parent) }
  } catch {
    return undefined // it ended while we looked
  }
}

/** Waits until `check` holds; fails with what was waited for. */
export async function until(what: string, check: () => boolean | Promise<boolean>, ms = 10_000): Promise<void> {
  const end = Date.now() + ms
  while (!(await check())) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
