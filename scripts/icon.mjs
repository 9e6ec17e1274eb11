// Draws resources/icon.png from icon.svg with the Chromium of the tests: node scripts/icon.mjs, after the drawing was changed.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { findChromium } from './system.mjs'
import { fail, root } from './toolchain.mjs'

const executablePath = findChromium() ?? fail('no Chromium was found; set TAU_CHROMIUM to one')
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
const page = await browser.newPage({ viewport: { width: 1024, height: 1024 } })
const svg = readFileSync(join(root, 'resources/icon.svg'), 'utf8')
await page.setContent(`<style>body { margin: 0 } svg { display: block }</style>${svg}`)
await page.screenshot({ path: join(root, 'resources/icon.png'), omitBackground: true })
await browser.close()
