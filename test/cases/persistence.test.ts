// Faults of storing that people met: kills, power cuts, two programs at once, disks that refuse, odd characters. Real files, real processes.
import { afterEach, describe, it } from 'vitest'
import { judge, loadCases } from './cases'
import { importOfCutLog, oddAnswer, oddTitle, oddToolResult, oddUserText, wrongClock } from './faults/characters'
import { killedAtFirstStart, killedBetweenStatements, killedInTool, killedWhileStreaming, powerLoss } from './faults/kills'
import { heldByAnother, readOnly, secondStart, twoMigrations, twoWriters } from './faults/others'
import { type Checks, cleanUp, type Input } from './faults/setup'

afterEach(cleanUp)

/** By the words of the case. */
const FAULTS: [RegExp, (input: Input) => Promise<Checks | undefined> | Checks | undefined][] = [
  [/SIGKILL between the statements/, killedBetweenStatements],
  [/SIGKILL while .* streams/, killedWhileStreaming],
  [/SIGKILL after tool call/, killedInTool],
  [/last \d+ bytes of the write-ahead log/, powerLoss],
  [/very first start/, killedAtFirstStart],
  [/import of a log/, importOfCutLog],
  [/holds a write transaction for (\d+) s/, heldByAnother],
  [/starts the app a second time/, secondStart],
  [/both instances add a child/, twoWriters],
  [/both want to migrate/, twoMigrations],
  [/read-only medium/, readOnly],
  [/send to the model, export as JSON/, oddToolResult],
  [/store, reload, send to the model$/, oddAnswer],
  [/search for it/, oddUserText],
  [/file named after the title/, oddTitle],
  [/store, search, export/, oddUserText],
  [/clock right/, wrongClock]
]

describe.each(loadCases<Input>('persistence'))('$n', ({ note, input, expect: expected }) => {
  it(note, { timeout: 120_000 }, async ({ skip }) => {
    const found = FAULTS.find(([words]) => words.test(input.fault ?? input.then))
    if (!found) throw new Error(`the runner cannot play "${input.fault ?? input.then}"`)
    const checks = await found[1](input)
    if (checks === undefined) skip('this process may not do what the fault needs')
    else await judge(expected, checks)
  })
})
