// Runs the rows that are named on the command line, or all of them, and prints a line of JSON for each figure.
import { abort } from './rows/abort'
import { deltas20k } from './rows/deltas'
import { edit10mb, progress, queueJobs, snapshot50k } from './rows/effects'
import { gate } from './rows/gate'
import { memory100k } from './rows/memory'
import { open10k } from './rows/open'
import { runaway } from './rows/runaway'
import { steer } from './rows/steer'
import { turns1000, turnsOn100k, turnsOn10k } from './rows/turns'
import { twoTools } from './rows/two-tools'
import type { Row } from './row'

const rows: readonly Row[] = [
  twoTools,
  turns1000,
  turnsOn10k,
  turnsOn100k,
  deltas20k,
  open10k,
  steer,
  abort,
  runaway,
  memory100k,
  gate,
  edit10mb,
  snapshot50k,
  queueJobs,
  progress
]

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !rows.some((row) => row.name === name))
if (unknown.length > 0) {
  console.error(`there is no row ${unknown.join(', ')}; the rows are ${rows.map((row) => row.name).join(', ')}`)
  process.exit(1)
}
for (const row of rows) {
  if (wanted.length > 0 && !wanted.includes(row.name)) continue
  for (const figure of await row.run()) console.log(JSON.stringify(figure))
}
