// Commands in all the clothes that got past other programs' gates, and harmless ones that those stopped: what is decided of each.
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createPolicy } from '../../src/main/policy/policy'
import type { Decision } from '../../src/shared/policy'
import { freshFolder } from '../support/folders'
import { parser } from '../support/policy'
import { judge, loadCases } from './cases'

interface Item {
  readonly command: string
  readonly policy: { readonly workspace: string; readonly cwd: string; readonly home: string }
  readonly fs?: {
    readonly symlinks?: Readonly<Record<string, string>>
    readonly files?: readonly string[] | Readonly<Record<string, string>>
    readonly dirs?: readonly string[]
  }
  readonly repo_config?: string | readonly string[] | Readonly<Record<string, string>>
}

describe.each(loadCases<Item>('shell_gate'))('$n', ({ note, input, expect: expected }) => {
  it(`${note} ${input.command}`, async () => {
    const verdict = verdictOf(decide(input))
    const acceptable = (expected['acceptable'] ?? []) as readonly string[]
    await judge(expected, {
      verdict: (wanted: string) => {
        if (!acceptable.includes(verdict)) expect(verdict, input.command).toBe(wanted)
      },
      never: (never: string) => {
        expect(verdict).not.toBe(never)
      },
      acceptable: () => undefined
    })
  })
})

const verdictOf = ({ verdict, code }: Decision): string => (verdict === 'allow' && code === 'reads' ? 'allow-readonly' : verdict)

/** The folders of the case stand below a fresh one, and the policy says in its file what the case says in words. */
function decide({ command, policy, fs, repo_config: config }: Item): Decision {
  const root = realpathSync(freshFolder('gate'))
  const at = (path: string): string => (path.startsWith('/') ? inRoot(root, policy, path) : join(root, policy.workspace, path))
  for (const folder of [policy.workspace, policy.cwd, policy.home]) mkdirSync(join(root, folder), { recursive: true })
  mkdirSync(join(root, policy.workspace, 'sub'), { recursive: true })
  for (const dir of fs?.dirs ?? []) mkdirSync(at(dir), { recursive: true })
  const files = Array.isArray(fs?.files) ? fs.files.map((name) => [name as string, ''] as const) : Object.entries(fs?.files ?? {})
  for (const [name, content] of files) {
    mkdirSync(dirname(at(name)), { recursive: true })
    writeFileSync(at(name), content)
  }
  for (const [name, target] of Object.entries(fs?.symlinks ?? {})) {
    mkdirSync(dirname(at(name)), { recursive: true })
    mkdirSync(dirname(at(target)), { recursive: true })
    symlinkSync(target.startsWith('/') ? at(target) : target, at(name))
  }
  if (config !== undefined) {
    mkdirSync(at('.git'), { recursive: true })
    writeFileSync(at('.git/config'), configText(config))
  }
  const file = join(root, 'policy.json')
  writeFileSync(file, JSON.stringify({ mode: 'ask', reading_outside: 'allow' }))
  const { decide } = createPolicy({ file, parser, sandboxed: true, home: join(root, policy.home), own: [], shared: [] })
  const line = command.replaceAll(policy.workspace, join(root, policy.workspace)).replaceAll(policy.home, join(root, policy.home))
  return decide(
    { tool: 'run_command', label: 'exec', touches: { command: line }, workspace: join(root, policy.cwd), foreign: false },
    'ask',
    []
  )
}

const inRoot = (root: string, { workspace, home }: Item['policy'], path: string): string =>
  path.startsWith(workspace) || path.startsWith(home) ? join(root, path) : path

function configText(config: NonNullable<Item['repo_config']>): string {
  if (typeof config === 'string') return config
  if (Array.isArray(config)) return config.join('\n')
  return Object.entries(config)
    .map(([key, value]) => {
      const [section = '', ...rest] = key.split('.')
      const name = rest.pop() ?? ''
      return `[${section}${rest.length > 0 ? ` "${rest.join('.')}"` : ''}]\n\t${name} = ${value}\n`
    })
    .join('')
}
