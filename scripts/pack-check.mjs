// npm run pack:check: packs the app as for Linux, without network and without Electron itself, shows what would ship and fails when something
// is in it that should not be, or is missing. `--out DIR` keeps the packed app there.
import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { listArchive } from './asar.mjs'
import { ensureBuilt, ensureInstalled, ensureNode, fail, programOf, root, run, say } from './toolchain.mjs'

/** Everything but Electron, in MB. Raise it on purpose only. */
const LIMIT_MB = 90
const OURS = [
  'out/main/index.js',
  'out/main/engine.js',
  'out/main/tree-sitter-bash.wasm',
  'node_modules/web-tree-sitter/web-tree-sitter.wasm',
  'out/preload/index.cjs',
  'out/renderer/index.html',
  'package.json'
]
const system = `linux-${process.arch}`

await ensureInstalled()
await ensureNode(join(root, 'scripts/pack-check.mjs'))
await ensureBuilt()
const { values } = parseArgs({ options: { out: { type: 'string' } } })
const folder = resolve(values.out ?? join(root, 'dist/check'))
rmSync(folder, { recursive: true, force: true })
const args = ['--linux', 'dir', '--publish', 'never', '-c.electronDist=test/fake-electron', `-c.directories.output=${folder}`]
const { code, output } = await run('packing', process.execPath, [programOf('electron-builder'), ...args])
if (code !== 0) fail(`electron-builder failed:\n${output}`)
const packed = process.arch === 'x64' ? 'linux-unpacked' : `linux-${process.arch}-unpacked`
const files = listArchive(join(folder, packed, 'resources/app.asar'))
showSizes(files)
const faults = findFaults(files)
if (faults.length > 0) fail(`this must not ship as it is:\n${faults.map((f) => `  ${f}`).join('\n')}`)
say('nothing is missing, and nothing is in it that should not be')

/** @param {readonly import('./asar.mjs').ArchiveFile[]} files */
function showSizes(files) {
  /** @type {Map<string, { bytes: number, files: number }>} */
  const sizes = new Map()
  for (const { path, size } of files) {
    const [top = '', name = '', inner = ''] = path.split('/')
    const part = top !== 'node_modules' ? (name === '' ? top : `${top}/${name}`) : name.startsWith('@') ? `${name}/${inner}` : name
    const sum = sizes.get(part) ?? { bytes: 0, files: 0 }
    sizes.set(part, { bytes: sum.bytes + size, files: sum.files + 1 })
  }
  const sorted = [...sizes].sort(([, a], [, b]) => b.bytes - a.bytes)
  for (const [part, { bytes, files }] of sorted.slice(0, 15))
    console.log(`${megabytes(bytes).padStart(8)}  ${part} (${String(files)} files)`)
  const rest = sorted.slice(15).reduce((sum, [, { bytes }]) => sum + bytes, 0)
  console.log(`${megabytes(rest).padStart(8)}  the other ${String(Math.max(0, sorted.length - 15))}`)
  console.log(`${megabytes(totalOf(files)).padStart(8)}  together, ${String(files.length)} files, Electron not counted`)
}

/** @param {readonly import('./asar.mjs').ArchiveFile[]} files @returns {string[]} */
function findFaults(files) {
  const paths = new Set(files.map((f) => f.path))
  const unpacked = new Set(files.filter((f) => f.offset === undefined).map((f) => f.path))
  const native = [
    `node_modules/better-sqlite3/prebuilds/${system}.node`,
    `node_modules/@vscode/ripgrep-${system}/bin/rg`,
    `node_modules/@lydell/node-pty-${system}/pty.node`,
    ...files.map((f) => f.path).filter(isEngineBinary)
  ]
  /** @type {[string, (path: string) => boolean][]} */
  const unwanted = [
    ['only out/, node_modules/ and package.json ship', (p) => !/^(out\/|node_modules\/|package\.json$)/.test(p)],
    ['a source map', (p) => p.endsWith('.map')],
    ['a test', (p) => /\.(test|spec)\.[cm]?[jt]s$/.test(p)],
    ['a Node that only the scripts need', (p) => /^node_modules\/node-(linux|win|darwin|bin-darwin)-/.test(p)],
    ['sources of llama.cpp', (p) => p.endsWith('gitRelease.bundle')],
    [
      "another system's engine",
      (p) => p.startsWith('node_modules/@node-llama-cpp/') && !p.startsWith(`node_modules/@node-llama-cpp/${system}/`)
    ],
    ["another system's database", (p) => p.startsWith('node_modules/better-sqlite3/prebuilds/') && !p.endsWith(`/${system}.node`)],
    ['a development package', (p) => /^node_modules\/(electron|vite|vitest|typescript|svelte|playwright-core)\//.test(p)]
  ]
  const total = totalOf(files)
  return [
    ...unwanted.flatMap(([what, is]) => sample(what, [...paths].filter(is))),
    ...sample(
      'missing',
      OURS.filter((p) => !paths.has(p))
    ),
    ...sample(
      'missing, or not beside the archive',
      native.filter((p) => !unpacked.has(p))
    ),
    ...(files.some((f) => isEngineBinary(f.path)) ? [] : [`missing: a binary of the engine for ${system}`]),
    ...(total > LIMIT_MB * 1e6 ? [`${megabytes(total)} is more than ${String(LIMIT_MB)} MB`] : [])
  ]
}

/** @param {string} path */
function isEngineBinary(path) {
  return path.startsWith(`node_modules/@node-llama-cpp/${system}/bins/`) && path.endsWith('.node')
}

/** @param {string} what @param {string[]} paths */
function sample(what, paths) {
  const more = paths.length > 3 ? ` and ${String(paths.length - 3)} more` : ''
  return paths.length === 0 ? [] : [`${what}: ${paths.slice(0, 3).join(', ')}${more}`]
}

/** @param {readonly import('./asar.mjs').ArchiveFile[]} files */
function totalOf(files) {
  return files.reduce((sum, f) => sum + f.size, 0)
}

/** @param {number} bytes */
function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
