// The way back, as a person goes it: in real Chromium against the real host, on real files.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, launchBrowser, openPage } from '../support/browser'
import { freshFolder } from '../support/harness'
import { type Client, startWeb, type WebProcess } from '../support/host'

describe.skipIf(chromiumPath === undefined)('in the window, an undo', () => {
  let web: WebProcess
  let browser: Browser
  let context: BrowserContext
  let api: Client
  let close: () => void
  const complaints: string[] = []

  beforeAll(async () => {
    web = await startWeb({ home: freshFolder('home') })
    browser = await launchBrowser()
    context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    ;({ api, close } = await web.connect())
    const [name = '', value = ''] = (await web.cookie()).split('=')
    await context.addCookies([{ name, value, url: web.origin, httpOnly: true, sameSite: 'Strict' }])
  })
  afterAll(async () => {
    close()
    await browser.close()
    await web.end()
  })
  afterEach(() => {
    expect(complaints.splice(0)).toEqual([])
  })

  const OLD = 'one\ntwo\nthree\n'
  const NEW = 'one\n<b>2</b>\nthree\n'

  /** A session that has changed `notes.md` and created `new.md`, each by one call. */
  async function changed(): Promise<{ page: Page; folder: string }> {
    const folder = freshFolder('work')
    writeFileSync(join(folder, 'notes.md'), OLD)
    const write = (path: string, content: string): string => `call: write_file ${JSON.stringify({ path, content })}`
    const script = join(folder, 'talk.script')
    writeFileSync(script, `${write('notes.md', NEW)}\n---\n${write('new.md', 'fresh\n')}\n---\nsay: All said.`)
    const { id } = await api.sessions.create({ model: `scripted:${script}`, workspace: folder })
    const opened = await openPage(context, `${web.origin}/#/s/${id}`)
    const { page } = opened
    page.on('close', () => complaints.push(...opened.complaints))
    await page.getByTestId('composer').fill('go')
    await page.getByTestId('composer').press('Enter')
    for (const name of ['notes.md', 'new.md']) {
      await page.getByTestId('approval-path').filter({ hasText: name }).waitFor()
      await page.getByTestId('allow-once').click()
    }
    await page.getByText('All said.').waitFor()
    expect(readFileSync(join(folder, 'notes.md'), 'utf8')).toBe(NEW)
    return { page, folder }
  }

  it('of one call shows each line first, brings them back, and can be taken back', async () => {
    const { page, folder } = await changed()
    await page.getByTestId('undo-call').first().click()
    const step = page.getByTestId('undo-step')
    await step.waitFor()
    expect(await step.getByTestId('diff').locator('.diff-remove .diff-text').allTextContents()).toEqual(['<b>2</b>'])
    expect(await step.getByTestId('diff').locator('.diff-add .diff-text').allTextContents()).toEqual(['two'])
    expect(readFileSync(join(folder, 'notes.md'), 'utf8')).toBe(NEW)
    await page.getByTestId('undo-apply').click()
    await page.getByTestId('undo-done').waitFor()
    expect(readFileSync(join(folder, 'notes.md'), 'utf8')).toBe(OLD)
    expect(existsSync(join(folder, 'new.md'))).toBe(true)
    await page.keyboard.press('Escape')
    await page.locator('[data-testid=kept][data-undone=true]').waitFor()
    await page.locator('[data-testid=kept][data-undone=true]').getByTestId('undo-call').click()
    await page.getByTestId('undo-apply').click()
    await page.getByTestId('undo-done').waitFor()
    expect(readFileSync(join(folder, 'notes.md'), 'utf8')).toBe(NEW)
    await page.close()
  })

  it('of a run brings every file back, and deletes what was not there', async () => {
    const { page, folder } = await changed()
    await page.getByTestId('undo-run').click()
    await page.getByTestId('undo-step').filter({ hasText: 'Is deleted' }).filter({ hasText: 'new.md' }).waitFor()
    await page.getByTestId('undo-apply').click()
    await page.getByTestId('undo-done').waitFor()
    expect(readFileSync(join(folder, 'notes.md'), 'utf8')).toBe(OLD)
    expect(existsSync(join(folder, 'new.md'))).toBe(false)
    await page.keyboard.press('Escape')
    await page.locator('[data-testid=run-changes][data-undone=true]').waitFor()
    await page.close()
  })

  it('back to a message leaves alone what somebody changed since, and says so', async () => {
    const { page, folder } = await changed()
    writeFileSync(join(folder, 'notes.md'), 'mine\n')
    await page.getByTestId('message-user').hover()
    await page.getByTestId('undo-since').click()
    await page.locator('[data-testid=undo-step][data-state=changed_since]').filter({ hasText: 'notes.md' }).waitFor()
    await page.getByTestId('undo-apply').click()
    await page.getByTestId('undo-done').waitFor()
    expect(readFileSync(join(folder, 'notes.md'), 'utf8')).toBe('mine\n')
    expect(existsSync(join(folder, 'new.md'))).toBe(false)
    await page.close()
  })

  it('is no longer possible once all that is kept was forgotten', async () => {
    const { page } = await changed()
    await page.getByRole('button', { name: 'Status and settings' }).click()
    await page.getByTestId('open-settings').click()
    await page.getByTestId('settings-undo').click()
    await page.getByTestId('clear-kept').click()
    await page.getByTestId('clear-sure').click()
    await page.getByText('Nothing is kept yet.').waitFor()
    expect((await api.undo.usage()).calls).toBe(0)
    await page.close()
  })
})
