// What a decision about a command costs: all commands of the field cases and some of every day, each parsed and judged anew.
import { readFileSync } from 'node:fs'
import { policyOf } from '../../test/support/policy'
import { freshFolder } from '../../test/support/folders'
import { compare, median, type Row } from '../row'

const EVERY_DAY = [
  'git status',
  'npm test',
  'ls -la src | head -50',
  'grep -rn "TODO" src | wc -l',
  'git commit -m "Say what it does"',
  'for f in src/*.ts; do wc -l "$f"; done',
  'cd src && npm run build && ls dist',
  'find . -name "*.ts" -newer package.json | xargs grep -l export'
]
const ROUNDS = 20

export const gate: Row = {
  name: 'gate',
  run() {
    const cases = JSON.parse(readFileSync('test/cases/shell_gate.json', 'utf8')) as { input: { items: { command: string }[] } }[]
    const commands = [...cases.flatMap((c) => c.input.items.map((i) => i.command)), ...EVERY_DAY]
    const { decide } = policyOf(freshFolder('home'))
    const workspace = process.cwd()
    const each: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const start = performance.now()
      for (const command of commands)
        decide({ tool: 'run_command', label: 'exec', touches: { command }, workspace, foreign: false }, 'ask', [])
      each.push((performance.now() - start) / commands.length)
    }
    return Promise.resolve([compare('gate.ms_per_command', 'ms', median(each), null)])
  }
}
