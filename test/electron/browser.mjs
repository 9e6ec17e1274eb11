// The one Chromium behind all windows. `TAU_CHROMIUM` says which; with `TAU_TEST_DEVTOOLS` it also listens on that port, so that a test in
// another process can look at the pages.
import { chromium } from 'playwright-core'
import { chromiumFlags } from '../../scripts/system.mjs'

/** @type {Promise<import('playwright-core').BrowserContext> | undefined} */
let context

/** @param {{ width: number, height: number, locale: string }} options of the first window; all share them @returns */
export function openBrowser({ width, height, locale }) {
  const port = process.env['TAU_TEST_DEVTOOLS']
  return (context ??= chromium.launchPersistentContext('', {
    executablePath: process.env['TAU_CHROMIUM'] ?? '/usr/bin/chromium',
    viewport: { width, height },
    locale,
    // the app ends by its own rules, and the browser with it
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    args: [...chromiumFlags, ...(port === undefined ? [] : [`--remote-debugging-port=${port}`])]
  }))
}

export async function closeBrowser() {
  await (await context)?.close()
}
