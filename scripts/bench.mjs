// npm run bench: measures, and prints a line of JSON for each figure. Rows named after `--` run alone: npm run bench -- two_tools
//
// The rows are TypeScript that imports the sources, so they are bundled into out/bench first. Peers (bench/peers) are measured in the same run;
// their packages are fetched when they are first needed, and a row does without them where they cannot be had.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureInstalled, ensureNode, follow, root, run, say, useStandardError } from './toolchain.mjs'

useStandardError()
await ensureInstalled()
await ensureNode(join(root, 'scripts/bench.mjs'))
await installPeer('pi')
const { build } = await import('vite') // only there once the packages are installed
await build({
  configFile: false,
  root,
  logLevel: 'warn',
  build: { ssr: true, outDir: 'out/bench', target: 'node22', rolldownOptions: { input: { run: join(root, 'bench/run.ts') } } }
})
const args = [join(root, 'out/bench/run.js'), ...process.argv.slice(2)]
process.exit(await follow(spawn(process.execPath, args, { cwd: root, stdio: 'inherit' })))

/** @param {string} name */
async function installPeer(name) {
  const folder = join(root, 'bench/peers', name)
  if (hasPackages(folder)) return
  const npm = process.env['npm_execpath']
  const byScript = npm !== undefined && /\.c?js$/.test(npm)
  const command = byScript ? process.execPath : process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const options = ['ci', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund']
  const { code, output } = await run(`installing ${name} to compare with (once)`, command, byScript ? [npm, ...options] : options)
  if (code !== 0) say(`${name} could not be installed, its figures will be null:\n${output}`)
}

/** Whether exactly what the peer's lock names was installed: npm leaves a copy of the lock, without its root, beside the packages.
 * @param {string} folder */
function hasPackages(folder) {
  try {
    /** @param {string} file @returns {Record<string, { version?: string, optional?: boolean }>} */
    const packages = (file) => JSON.parse(readFileSync(join(folder, file), 'utf8')).packages
    const installed = packages('node_modules/.package-lock.json')
    return Object.entries(packages('package-lock.json')).every(
      ([path, { version, optional }]) => path === '' || optional === true || installed[path]?.version === version
    )
  } catch {
    return false
  }
}
