// The real policy for tests.
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createPolicy } from '../../src/main/policy/policy'
import { loadShellParser } from '../../src/main/policy/shell/parser'

/** Loaded once for a file of tests. */
export const parser = await loadShellParser(createRequire(import.meta.url).resolve('tree-sitter-bash/tree-sitter-bash.wasm'))

/** The policy of a data folder, as the app makes it. */
export const policyOf = (home: string, sandboxed = true): ReturnType<typeof createPolicy> =>
  createPolicy({ file: join(home, 'policy.json'), parser, sandboxed, home: homedir(), own: [home], shared: [] })
