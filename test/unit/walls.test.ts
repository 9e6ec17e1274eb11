import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { freshFolder } from '../support/harness'

/** Runs the wall check of this project on a small made-up source tree; the names of the rules it breaks. */
function violations(files: Record<string, string>): string[] {
  const root = freshFolder('walls')
  for (const name of ['.dependency-cruiser.mjs', 'tsconfig.base.json', 'package.json']) copyFileSync(name, join(root, name))
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'), 'dir')
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, 'src', path)), { recursive: true })
    writeFileSync(join(root, 'src', path), text)
  }
  const program = resolve('node_modules/dependency-cruiser/bin/dependency-cruiser.mjs')
  const { stdout } = spawnSync(process.execPath, [program, '--config', '.dependency-cruiser.mjs', '--output-type', 'json', 'src'], {
    cwd: root,
    encoding: 'utf8'
  })
  const { summary } = JSON.parse(stdout) as { summary: { violations: { rule: { name: string } }[] } }
  return [...new Set(summary.violations.map((v) => v.rule.name))].sort()
}

it('the walls stand: a planted violation of each kind is named, and a clean tree has none', () => {
  const clean = { 'shared/a.ts': 'export const a = 1\n', 'main/loop/l.ts': "import { a } from '../../shared/a'\nexport const l = a\n" }
  expect(violations(clean)).toEqual([])
  expect(
    violations({
      ...clean,
      'shared/up.ts': "import { l } from '../main/loop/l'\nexport const up = l\n",
      'shared/node.ts': "import { join } from 'node:path'\nexport const n = join\n",
      'main/models/m.ts': 'export const m = 1\n',
      'main/loop/value.ts': "import { m } from '../models/m'\nexport const v = m\n",
      'main/session/electron.ts': "import { app } from 'electron'\nexport const e = app\n",
      'main/tools/db.ts': "import Database from 'better-sqlite3'\nexport const d = Database\n",
      'main/web/w.ts': 'export const w = 1\n',
      'main/cli/c.ts': "import { w } from '../web/w'\nexport const c = w\n",
      'renderer/r.ts': "import { l } from '../main/loop/l'\nexport const r = l\n"
    })
  ).toEqual([
    'no node modules',
    'only main/desktop, main/index.ts, preload: electron$',
    'only main/store: better-sqlite3$',
    'types only: main/loop → main/models',
    'wall: main/cli',
    'wall: renderer',
    'wall: shared'
  ])
})

it('a planted circle is named', () => {
  expect(
    violations({
      'shared/a.ts': "import { b } from './b'\nexport const a = (): number => b()\n",
      'shared/b.ts': "import { a } from './a'\nexport const b = (): number => a()\n"
    })
  ).toEqual(['no circles'])
})
