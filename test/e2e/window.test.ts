// What a person decides in the window, in real Chromium against the real host: questions before effects, rules, modes, and what is told elsewhere.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, launchBrowser, openPage } from '../support/browser'
import { freshFolder } from '../support/harness'
import { type Client, startWeb, until, type WebProcess } from '../support/host'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
interface AxeResult {
  violations: { id: string; nodes: { html: string }[] }[]
}

describe.skipIf(chromiumPath === undefined)('in the window', () => {
  const workspace = freshFolder('work')
  let web: WebProcess
  let browser: Browser
  let context: BrowserContext
  let api: Client
  let close: () => void
  const complaints: string[] = []

  beforeAll(async () => {
    web = await startWeb({ home: freshFolder('home'), workspace })
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

  async function open(hash = ''): Promise<Page> {
    const opened = await openPage(context, `${web.origin}/${hash}`)
    opened.page.on('close', () => complaints.push(...opened.complaints))
    return opened.page
  }
  async function begin(script: string): Promise<{ page: Page; sessionId: string }> {
    const file = join(workspace, `talk-${String(Math.random()).slice(2)}.script`)
    writeFileSync(file, script)
    const { id: sessionId } = await api.sessions.create({ model: `scripted:${file}`, title: `Talk ${file.slice(-12)}` })
    const page = await open(`#/s/${sessionId}`)
    await page.getByTestId('composer').fill('go')
    await page.getByTestId('composer').press('Enter')
    return { page, sessionId }
  }
  const write = (name: string, content = 'x'): string => `call: write_file ${JSON.stringify({ path: name, content })}`
  const stateOf = async (sessionId: string): Promise<string> => (await api.sessions.open({ sessionId })).session.state

  it('the model asks, and reads the answer that was clicked', async () => {
    const { page } = await begin(
      'call: ask_person {"question": "Which <b>bed</b>?", "choices": ["North", "South"]}\n---\nsay: So it is {{result}}.'
    )
    const card = page.getByTestId('approval-card')
    await card.waitFor()
    expect(await card.getByTestId('question').textContent()).toBe('Which <b>bed</b>?')
    await card.getByRole('button', { name: 'South' }).click()
    await page.getByText('So it is South.').waitFor()
    await page.close()
  })

  it('two questions stand one behind the other; no stray key answers one, and an answer from elsewhere closes it', async () => {
    const { page, sessionId } = await begin(`${write('one.txt')}\n${write('two.txt')}\n---\nsay: All said.`)
    await page.getByTestId('approval-deck').getByText('1 of 2').waitFor()
    for (const key of ['Enter', ' ', 'Enter']) await page.keyboard.press(key)
    const [first, second] = (await api.sessions.open({ sessionId })).approvals
    if (!first || !second) throw new Error('a key answered a question')
    const shown = (approval: typeof first): Promise<void> => page.locator(`[data-approval="${approval.id}"]`).waitFor()
    await shown(first)
    await page.getByRole('button', { name: 'Next question' }).click()
    await shown(second)
    await api.run.answer({ sessionId, approvalId: second.id, answer: { kind: 'deny', reason: 'not this one' } })
    await shown(first)
    expect(await page.getByTestId('approval-deck').count()).toBe(0)
    await page.getByTestId('allow-once').click()
    await page.getByText('All said.').waitFor()
    const done = (approval: typeof first): boolean => approval.preview.kind === 'file' && existsSync(approval.preview.path)
    expect([done(first), done(second)]).toEqual([true, false])
    await page.close()
  })

  it('a rule is shown before it is stored, lets the next call through, and is taken back in the settings', async () => {
    const again = (n: number): string => write('again.txt', `version ${String(n)}`)
    const { page, sessionId } = await begin(`${again(1)}\n---\n${again(2)}\n---\nsay: Twice.\n---\n${again(3)}\n---\nsay: Thrice.`)
    await page.getByTestId('allow-always').click()
    await page.getByTestId('grant-form').getByTestId('rule-line').getByText('write_file').waitFor()
    expect(await api.policy.grants()).toEqual([])
    await page.getByTestId('grant-allow').click()
    await page.getByText('Twice.').waitFor()
    expect(readFileSync(join(workspace, 'again.txt'), 'utf8')).toBe('version 2')
    await page.getByRole('button', { name: 'Status and settings' }).click()
    await page.getByTestId('open-settings').click()
    await page.getByTestId('settings-grants').click()
    await page.getByTestId('revoke').click()
    await page.getByTestId('grant').waitFor({ state: 'detached' })
    expect(await api.policy.grants()).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByTestId('composer').fill('once more')
    await page.getByTestId('composer').press('Enter')
    await page.getByTestId('approval-card').waitFor()
    expect(await stateOf(sessionId)).toBe('waiting')
    await api.run.stop({ sessionId })
    await page.getByTestId('approval-card').waitFor({ state: 'detached' })
    await page.close()
  })

  it('a mode that is chosen in one window holds in every other', async () => {
    const { page, sessionId } = await begin('say: Hello.')
    await page.getByText('Hello.').waitFor()
    const other = await open(`#/s/${sessionId}`)
    await page.getByTestId('mode-picker').click()
    await page.getByTestId('mode-workspace').click()
    await other.locator('[data-testid=mode-picker][data-mode=workspace]').waitFor()
    expect((await api.sessions.open({ sessionId })).session.mode).toBe('workspace')
    await other.close()
    await page.close()
  })

  it('the title of every page counts what waits', async () => {
    const start = await open()
    const { page, sessionId } = await begin(write('title.txt'))
    await page.getByTestId('approval-card').waitFor()
    await until('the number in the title', async () => (await start.title()) === '(1) Tau')
    await api.run.stop({ sessionId })
    await until('no number in the title', async () => (await start.title()) === 'Tau')
    await start.close()
    await page.close()
  })

  it('a hidden page tells by a notification of the system what its card asks, and takes it away with the answer', async () => {
    await context.grantPermissions(['notifications'], { origin: web.origin })
    const { page, sessionId } = await begin(`pause: 1500ms\n${write('told.txt')}\n---\nsay: All said.`)
    // a browser without a screen hides no page, so the page is told that it is hidden; the notification is the browser's own
    await page.evaluate(() => {
      const told: string[] = []
      const Native = Notification
      class Heard extends Native {
        constructor(title: string, options?: NotificationOptions) {
          super(title, options)
          this.addEventListener('show', () => told.push(`shown: ${title}\n${options?.body ?? ''}`))
          this.addEventListener('close', () => told.push('closed'))
          this.addEventListener('error', () => told.push('refused'))
        }
      }
      Object.assign(globalThis, { Notification: Heard, told })
      Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' })
      document.dispatchEvent(new Event('visibilitychange'))
    })
    const told = (): Promise<string[]> => page.evaluate(() => (globalThis as unknown as { told: string[] }).told)
    await until('the notification', async () => (await told()).length > 0)
    const { session } = await api.sessions.open({ sessionId })
    expect(await told()).toEqual([`shown: Tau wants to create a file\n${join(workspace, 'told.txt')}\n${session.title}`])
    await page.getByTestId('allow-once').click()
    await until('its end', async () => (await told()).at(-1) === 'closed')
    await page.getByText('All said.').waitFor()
    await context.clearPermissions()
    await page.close()
  })

  it('a change of 8,000 lines is all there, in parts, and the card fits a narrow window', async () => {
    const lines = Array.from({ length: 8_000 }, (_, i) => `${String(i)} ${'word '.repeat(i % 9)}`)
    const { page, sessionId } = await begin(write('long.txt', lines.join('\n')))
    await page.setViewportSize({ width: 360, height: 700 })
    await page.getByTestId('diff-rest').waitFor()
    for (;;) {
      const more = page.getByTestId('diff-rest').getByRole('button')
      if ((await more.count()) === 0) break
      await more.click()
    }
    expect(await page.getByTestId('diff').locator('.diff-add').count()).toBe(8_000)
    const beyond = await page.evaluate(() => {
      const outside = (e: Element): boolean => e.getBoundingClientRect().right > innerWidth + 1
      return [...(document.querySelector('[data-testid=approval-card]')?.querySelectorAll('*') ?? [])].filter(outside).length
    })
    expect(beyond).toBe(0)
    await api.run.stop({ sessionId })
    await page.close()
  })

  it.each(['light', 'dark'] as const)('everybody can read and reach the card and the settings (%s)', async (colorScheme) => {
    const { page, sessionId } = await begin(write(`reach-${colorScheme}.txt`, 'one\ntwo\n'))
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.getByTestId('allow-always').click()
    await page.getByTestId('grant-form').waitFor()
    const look = async (): Promise<string[]> => {
      await page.evaluate(AXE)
      const { violations } = await page.evaluate<AxeResult>(`axe.run(document, { rules: { region: { enabled: false } } })`)
      return violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 160)).join(' | ')}`)
    }
    await page.waitForTimeout(300) // colours change softly
    expect(await look()).toEqual([])
    await page.getByRole('button', { name: 'Status and settings' }).click()
    await page.getByTestId('open-settings').click()
    await page.getByTestId('policy-path').waitFor()
    await page.waitForTimeout(300)
    expect(await look()).toEqual([])
    await api.run.stop({ sessionId })
    await page.close()
  })
})
