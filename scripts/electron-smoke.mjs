// Starts the built app in the real Electron on an empty data folder, waits for its window, and ends it: what the stand-in cannot show.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { _electron } from 'playwright-core'
import { fail, root, say } from './toolchain.mjs'

const home = mkdtempSync(join(tmpdir(), 'tau-smoke-'))
const sandbox = process.platform === 'linux' && process.env['CI'] !== undefined ? ['--no-sandbox'] : [] // hosted Linux forbids it
const app = await _electron.launch({ args: [...sandbox, root, `--home=${home}`], timeout: 60_000 })
const page = await app.firstWindow()
await page.getByTestId('start-view').waitFor({ timeout: 30_000 })
const reach = await page.evaluate(() => `${typeof process} ${typeof require}`)
await app.close()
if (reach !== 'undefined undefined') fail(`the page reaches Node: ${reach}`)
say('the window opened in the real Electron, and closed')
