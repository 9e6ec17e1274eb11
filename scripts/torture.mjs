// npm run torture -- --kills N: kills a real process at random moments and looks whether anything that was promised is missing (torture/).
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { ensureInstalled, ensureNode, follow, root, useStandardError } from './toolchain.mjs'

useStandardError()
await ensureInstalled()
await ensureNode(join(root, 'scripts/torture.mjs'))
const { build } = await import('vite') // only there once the packages are installed
const input = { run: join(root, 'torture/run.ts'), child: join(root, 'torture/child.ts') }
await build({
  configFile: false,
  root,
  logLevel: 'warn',
  build: { ssr: true, outDir: 'out/torture', target: 'node22', rolldownOptions: { input } }
})
process.exit(
  await follow(spawn(process.execPath, [join(root, 'out/torture/run.js'), ...process.argv.slice(2)], { cwd: root, stdio: 'inherit' }))
)
