#!/usr/bin/env node
// The command line `tau`: sees to dependencies, the right Node and the build, then hands over. What it says of that goes to standard error.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, ensureNode, follow, root, useStandardError } from '../scripts/toolchain.mjs'

useStandardError()
await ensureInstalled()
await ensureNode(join(root, 'bin/tau.mjs'))
await ensureBuilt()
process.exit(await follow(spawn(process.execPath, [join(root, 'out/main/cli.js'), ...process.argv.slice(2)], { stdio: 'inherit' })))
