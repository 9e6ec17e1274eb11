// Entry of the web host: `npm start -- --web`, `tau serve`. Prints one line with the address, and serves until it is told to end.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { composeApp } from '../app/compose'
import { endWith } from '../app/lifetime'
import { homeFolder, version } from '../app/place'
import { visitOwner } from '../app/owner/visitor'
import { startWebHost, type WebHost } from './server'

const DEFAULT_PORT = 4517

const { values } = parseArgs({
  options: {
    home: { type: 'string' },
    workspace: { type: 'string' },
    port: { type: 'string' },
    'no-open': { type: 'boolean' },
    open: { type: 'boolean' },
    web: { type: 'boolean' }
  }
})

try {
  await serve()
} catch (error) {
  if (error instanceof Error && 'code' in error && error.code === 'in_use' && (await showRunning(homeFolder(values.home)))) process.exit(0)
  console.error(`tau: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(3)
}

async function serve(): Promise<void> {
  const home = homeFolder(values.home)
  const port = values.port === undefined ? undefined : Number(values.port)
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535))
    throw new Error(`--port ${values.port ?? ''} is not a port (0 to 65535).`)
  let host: WebHost | undefined
  const app = await composeApp({
    show: () => (host ? { url: host.link() } : {}),
    home,
    host: 'web',
    version,
    engineEntry: join(import.meta.dirname, 'engine.js'),
    ...(values.workspace !== undefined && { workspace: values.workspace })
  })
  const ready = (): string => {
    const link = host?.link() ?? ''
    console.log(`Tau is ready: ${link}`)
    return link
  }
  const root = join(import.meta.dirname, '../renderer')
  const listen = (at: number): Promise<WebHost> => startWebHost({ router: app.router, root, port: at, onUsedLink: ready })
  try {
    host = await listen(port ?? DEFAULT_PORT).catch((error: unknown) => {
      if (port !== undefined) throw error // the person chose it: another one would surprise
      return listen(0)
    })
  } catch (error) {
    await app.close()
    throw new Error(
      `port ${String(port)} cannot be used (${error instanceof Error ? error.message : String(error)}). Choose another with --port.`,
      { cause: error }
    )
  }
  endWith(async () => {
    await host.close()
    await app.close()
    return 0
  })
  const link = ready()
  if (values['no-open'] !== true && hasBrowser()) openInBrowser(link)
  if (process.stdin.isTTY) createInterface({ input: process.stdin }).on('line', ready) // Enter: another link, for another browser
}

/** Hands this start to the Tau that owns the folder; false when it does not answer. */
async function showRunning(home: string): Promise<boolean> {
  const visit = await visitOwner(home)
  if (!visit) return false
  const { url, host } = await visit.client.app.show()
  visit.close()
  console.log(url === undefined ? `Tau is running already (${host}).` : `Tau is running already: ${url}`)
  if (url !== undefined && values['no-open'] !== true && hasBrowser()) openInBrowser(url)
  return true
}

const hasBrowser = (): boolean =>
  values.open === true ||
  process.platform !== 'linux' ||
  process.env['DISPLAY'] !== undefined ||
  process.env['WAYLAND_DISPLAY'] !== undefined

function openInBrowser(link: string): void {
  const [program, args]: [string, string[]] =
    process.platform === 'darwin'
      ? ['open', [link]]
      : process.platform === 'win32'
        ? ['rundll32', ['url.dll,FileProtocolHandler', link]]
        : ['xdg-open', [link]]
  spawn(program, args, { stdio: 'ignore', detached: true })
    .once('error', () => undefined) // no such program: the printed line is enough
    .unref()
}
