// Runs the rows that are named on the command line, or all of them, and prints a line of JSON for each figure.
import { twoTools } from './rows/two-tools'
import type { Row } from './row'

const rows: readonly Row[] = [twoTools]

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
