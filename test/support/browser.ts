// Real Chromium for tests, and what a page must never do: speak to anyone but us, or complain in its console.
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { chromiumFlags } from '../../scripts/system.mjs'

/** Set by `npm test` where there is one; browser tests are skipped and counted where there is none. */
export const chromiumPath = process.env['TAU_CHROMIUM']

export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({
    ...(chromiumPath !== undefined && { executablePath: chromiumPath }),
    args: chromiumFlags
  })

export interface WatchedPage {
  readonly page: Page
  /** Console errors, uncaught errors, and requests to anyone but the page's own origin. */
  readonly complaints: string[]
}

export async function openPage(context: BrowserContext, url: string): Promise<WatchedPage> {
  const page = await context.newPage()
  const complaints: string[] = []
  const { origin } = new URL(url)
  page.on('console', (m) => {
    if (m.type() === 'error') complaints.push(`console: ${m.text()}`)
  })
  page.on('pageerror', (error) => complaints.push(`error: ${String(error)}`))
  page.on('request', (request) => {
    if (/^(https?|wss?):/.test(request.url()) && new URL(request.url()).origin !== origin) complaints.push(`request: ${request.url()}`)
  })
  await page.goto(url)
  return { page, complaints }
}
