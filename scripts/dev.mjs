// npm run dev: Tau while you work on it. Every change is seen at once: the window's parts are swapped in place, the main process starts again.
//
//   npm run dev                  in a window where Electron can be had and there is a display, else in a browser
//   npm run dev -- --web         in a browser
//   … --port N  --home DIR  --workspace DIR
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { ensureInstalled, ensureNode, follow, programOf, root, run, say } from './toolchain.mjs'

await ensureInstalled()
await ensureNode(join(root, 'scripts/dev.mjs'))
// only there once the packages are installed
const [{ resolveConfig }, { build }, { servePage }] = await Promise.all([import('electron-vite'), import('vite'), import('./dev-page.mjs')])
const { values: options } = parseArgs({
  options: {
    web: { type: 'boolean' },
    port: { type: 'string', default: '5173' },
    home: { type: 'string' },
    workspace: { type: 'string' }
  }
})
const passed = ['home', 'workspace'].flatMap((name) => {
  const value = options[/** @type {'home' | 'workspace'} */ (name)]
  return value === undefined ? [] : [`--${name}=${value}`]
})

if (!options.web && (await hasElectron())) process.exit(await openWindow())
await serveBrowser()

function openWindow() {
  const args = [programOf('electron-vite'), 'dev', '--watch', '--', ...passed]
  return follow(spawn(process.execPath, args, { cwd: root, stdio: 'inherit', env: { ...process.env, TAU_PARENT: String(process.pid) } }))
}

async function hasElectron() {
  const { platform, env } = process
  if (platform === 'linux' && env['DISPLAY'] === undefined && env['WAYLAND_DISPLAY'] === undefined) return false
  const folder = join(root, 'node_modules/electron')
  if (existsSync(join(folder, 'path.txt'))) return true
  const { code } = await run('downloading Electron (once)', process.execPath, [join(folder, 'install.js')])
  return code === 0
}

/** The web host behind vite: vite serves the page, the host its API. */
async function serveBrowser() {
  const page = await servePage(Number(options.port))
  /** @type {import('node:child_process').ChildProcess | undefined} */
  let host
  let turn = Promise.resolve()
  let isFirst = true

  const stop = async () => {
    if (!host || host.exitCode !== null || host.signalCode !== null) return
    const gone = new Promise((resolve) => host?.once('exit', resolve))
    host.kill('SIGTERM')
    await gone
  }
  const start = async () => {
    await stop()
    const args = [join(root, 'out/main/web.js'), '--no-open', `--port=${String(page.hostPort)}`, ...passed]
    const env = { ...process.env, TAU_PARENT: String(process.pid) }
    host = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] })
    host.once('exit', (code) => {
      if (code !== null && code !== 0) say(`the host ended with exit code ${String(code)}; it starts again with the next change`)
    })
    if (!host.stdout) return
    createInterface({ input: host.stdout }).on('line', (line) => {
      const [link] = /http:\/\/\S+/.exec(line) ?? []
      if (link === undefined) console.log(line)
      else if (isFirst) console.log(`Tau is ready: ${page.useLink(link)}`)
      else {
        page.useLink(link)
        page.reload()
      }
      isFirst = false
    })
  }

  const { config } = await resolveConfig({ build: { watch: {} }, logLevel: 'warn' }, 'build', 'development')
  const watcher = await build(config?.main)
  if (!('on' in watcher)) throw new Error('vite does not watch')
  watcher.on('event', (event) => {
    if (event.code === 'ERROR') say(`main: ${event.error.message}`)
    if (event.code === 'BUNDLE_END') {
      void event.result.close()
      if (!isFirst) say('main changed: the host starts again')
      turn = turn.then(start)
    }
  })
  const end = () => {
    void Promise.all([stop(), watcher.close(), page.close()]).then(() => process.exit(0))
  }
  process.once('SIGINT', end)
  process.once('SIGTERM', end)
}
