import { connect } from 'node:net'
import { messageEntries } from '../../src/shared/tree'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { chromiumPath, launchBrowser, openPage } from '../support/browser'
import { freshFolder } from '../support/harness'
import { type Client, cuttable, homeWithTinyModels, startWeb, until, type WebProcess } from '../support/host'

let web: WebProcess
const home = homeWithTinyModels()
const workspace = freshFolder('work')
beforeAll(async () => {
  web = await startWeb({ home, workspace })
})
afterAll(async () => {
  await web.end()
})

describe('the web host lets in', () => {
  const status = (path: string, headers: Record<string, string>): Promise<number> =>
    new Promise((resolve, reject) => {
      request(`${web.origin}${path}`, { headers }, (res) => {
        res.resume()
        resolve(res.statusCode ?? 0)
      })
        .once('error', reject)
        .end()
    })
  const socket = (headers: Record<string, string>, origin?: string): Promise<string> =>
    new Promise((resolve) => {
      const ws = new WebSocket(`${web.origin.replace('http', 'ws')}/rpc`, { headers, ...(origin !== undefined && { origin }) })
      ws.once('open', () => {
        ws.terminate()
        resolve('open')
      })
      ws.once('error', (error) => {
        resolve(error.message)
      })
    })

  it('a browser with the printed link, once; the next one needs the link that is then printed', async () => {
    const link = web.link()
    await fetch(link, { method: 'HEAD' }) // as a program does that only looks whether the link is good
    const cookie = await web.enter()
    expect(web.link()).toBe(link)
    expect(cookie).toMatch(/^tau_\d+=/)
    const second = await fetch(link, { redirect: 'manual' })
    expect(second.status).toBe(401)
    expect(second.headers.get('set-cookie')).toBeNull()
    await until('another link', () => web.link() !== link)
    expect((await fetch(link, { redirect: 'manual' })).status).toBe(401)
    expect((await fetch(web.link(), { redirect: 'manual' })).status).toBe(303)
    expect(await status('/', { cookie })).toBe(200)
    expect(await socket({ cookie }, web.origin)).toBe('open')
  })

  it('nobody without the cookie, with a foreign origin, or under a foreign name', async () => {
    const fresh = await startWeb({ home: freshFolder('home') })
    const cookie = await fresh.enter()
    await fresh.end()
    expect(await status('/', {})).toBe(401)
    expect(await status('/', { cookie })).toBe(401) // another instance's
    expect(await status('/', { host: 'evil.example' })).toBe(421)
    expect(await status('/?token=guess', {})).toBe(401)
    expect(await socket({}, web.origin)).toContain('401')
    const { api, close } = await web.connect()
    expect(await api.sessions.list({})).toEqual([])
    close()
    const mine = await web.cookie()
    expect(await socket({ cookie: mine }, 'http://evil.example')).toContain('401')
    expect(await socket({ cookie: mine })).toContain('401')
    expect(await socket({ cookie: mine, host: 'evil.example' }, 'http://evil.example')).toContain('401')
  })

  it('nobody who sends what is no cookie and no path, and goes on', async () => {
    const { port } = new URL(web.origin)
    for (const line of [
      'GET / HTTP/1.1\r\ncookie: tau_' + port + '=\xe9\xe9\xe9' + 'x'.repeat(40),
      'GET / HTTP/1.1\r\ncookie: tau_' + port + '=' + '\xfc'.repeat(43),
      'GET /%E0%A4%A HTTP/1.1\r\ncookie: %%%=%%%; ;;;==',
      'GET //%00/../..%2f HTTP/1.1\r\nx: y'
    ]) {
      const socket = connect(Number(port), '127.0.0.1')
      socket.end(Buffer.from(`${line}\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\n\r\n`, 'latin1'))
      let said = ''
      for await (const piece of socket) said += String(piece)
      expect(said).toMatch(/^HTTP\/1\.1 4\d\d/)
    }
    expect(await status('/', { cookie: await web.cookie() })).toBe(200)
  })

  it('no path that leads out of the page', async () => {
    for (const path of ['/..%2f..%2fpackage.json', '/%2e%2e/%2e%2e/package.json', '/assets/../../main/web.js', '/%00', '/%'])
      expect([400, 404, 500], path).toContain(await status(path, {}))
  })
})

describe.skipIf(chromiumPath === undefined)('the page', () => {
  let browser: Browser
  let context: BrowserContext
  let api: Client
  let close: () => void
  const complaints: string[] = []

  beforeAll(async () => {
    browser = await launchBrowser()
    context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    ;({ api, close } = await web.connect())
    const [name = '', value = ''] = (await web.cookie()).split('=')
    await context.addCookies([{ name, value, url: web.origin, httpOnly: true, sameSite: 'Strict' }])
  })
  afterAll(async () => {
    close()
    await browser.close()
  })
  afterEach(() => {
    expect(complaints.splice(0)).toEqual([])
  })

  async function open(origin = web.origin): Promise<Page> {
    const opened = await openPage(context, origin)
    opened.page.on('close', () => complaints.push(...opened.complaints))
    return opened.page
  }
  async function openSession(script: string, origin = web.origin): Promise<{ page: Page; sessionId: string }> {
    const file = join(workspace, `talk-${String(Math.random()).slice(2)}.script`)
    writeFileSync(file, script)
    const { id: sessionId } = await api.sessions.create({ model: `scripted:${file}`, title: `Talk ${file.slice(-12)}` })
    const page = await open(origin)
    await page
      .getByTestId('session-item')
      .filter({ hasText: file.slice(-12) })
      .click()
    return { page, sessionId }
  }
  async function send(page: Page, words: string): Promise<void> {
    await page.getByTestId('composer').fill(words)
    await page.getByTestId('composer').press('Enter')
  }

  it('answers by real inference: streaming, a tool, and the words after its result', async () => {
    writeFileSync(join(workspace, 'seen.txt'), 'x')
    const { id } = await api.sessions.create({ model: 'engine:tiny-tau', title: 'Real weights' })
    const page = await open()
    await page.getByTestId('session-item').filter({ hasText: 'Real weights' }).click()
    await send(page, 'list')
    await page.getByTestId('tool-card').filter({ hasText: 'list_dir' }).waitFor()
    await until('the end of the run', async () => (await api.sessions.open({ sessionId: id })).session.state === 'completed', 20_000)
    await until('the answer', async () => (await page.getByTestId('message-assistant').count()) >= 1)
    const { entries } = await api.sessions.open({ sessionId: id })
    expect(messageEntries(entries).map((e) => e.message.role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    await page.close()
  })

  it('asks before a write, shows the exact path and difference, and does as it is told', async () => {
    const write = (name: string): string =>
      `call: write_file {"path": "${name}", "content": "line one\\n<b>line two</b>\\n"}\n---\nsay: {{result}}\n--- after denied\nsay: No: {{result}}`
    const { page } = await openSession(write('yes.txt'))
    await send(page, 'write')
    const card = page.getByTestId('approval-card')
    await card.waitFor()
    expect(await card.textContent()).toContain(join(workspace, 'yes.txt'))
    expect(await card.textContent()).toContain('<b>line two</b>')
    expect(existsSync(join(workspace, 'yes.txt'))).toBe(false)
    await page.getByTestId('allow-once').click()
    await page.getByText('Created yes.txt').first().waitFor()
    expect(readFileSync(join(workspace, 'yes.txt'), 'utf8')).toBe('line one\n<b>line two</b>\n')
    await page.close()

    const denied = await openSession(write('no.txt'))
    await send(denied.page, 'write')
    await denied.page.getByTestId('deny').click()
    await denied.page.getByTestId('deny-reason').fill('Not today.')
    await denied.page.getByTestId('deny-confirm').click()
    await denied.page.getByText('No: The person did not allow this: Not today.').first().waitFor()
    expect(existsSync(join(workspace, 'no.txt'))).toBe(false)
    await denied.page.close()
  })

  it('loses nothing and shows nothing twice when it is reloaded in the middle of an answer; two windows agree', async () => {
    const words = Array.from({ length: 120 }, (_, i) => `word${String(i)}`)
    const { page, sessionId } = await openSession(`speed: 60\nsay: ${words.join(' ')}`)
    const second = await open()
    await second
      .getByTestId('session-item')
      .filter({ hasText: (await api.sessions.open({ sessionId })).session.title })
      .click()
    await send(page, 'go')
    await page.getByText('word20').waitFor()
    await page.reload()
    await page.getByText('word60').waitFor()
    await page.getByText('word119').waitFor()
    await second.getByText('word119').waitFor()
    await until('the end', async () => (await api.sessions.open({ sessionId })).session.state === 'completed')
    for (const window of [page, second]) {
      const shown = (await window.getByTestId('message-assistant').last().textContent()) ?? ''
      expect(shown.match(/word\d+/g)).toEqual(words)
      expect(await window.getByTestId('message-user').count()).toBe(1)
    }
    await second.close()
    await page.close()
  })

  it('goes on by itself when its connection is cut', async () => {
    const words = Array.from({ length: 90 }, (_, i) => `piece${String(i)}`)
    const way = await cuttable(web.origin)
    const { page } = await openSession(`speed: 40\nsay: ${words.join(' ')}`, way.origin)
    await send(page, 'go')
    await page.getByText('piece10').waitFor()
    way.cut()
    await page.getByTestId('banner-reconnecting').waitFor()
    way.mend()
    await page.getByText('piece89').waitFor()
    await page.getByTestId('banner-reconnecting').waitFor({ state: 'detached' })
    expect(((await page.getByTestId('message-assistant').last().textContent()) ?? '').match(/piece\d+/g)).toEqual(words)
    await page.close()
    way.close()
    expect(complaints.splice(0).filter((c) => !c.includes('ERR_CONNECTION') && !c.includes('WebSocket'))).toEqual([]) // a browser reports the cut itself
  })

  it('stops, queues and branches', async () => {
    const { page, sessionId } = await openSession('say: Begun.\nhang\n---\nrepeat\nsay: Answer to {{user}}.')
    await send(page, 'first')
    await page.getByText('Begun.').waitFor()
    await send(page, 'for later')
    await page.getByTestId('queue-item').filter({ hasText: 'for later' }).waitFor()
    await page.getByTestId('stop').click()
    await until('the stop', async () => (await api.sessions.open({ sessionId })).session.state === 'cancelled')
    const before = (await api.sessions.tree({ sessionId })).length
    await page.getByTestId('message-user').first().hover()
    await page.getByTestId('edit-message').first().click()
    const editor = page.getByTestId('message-user').first().getByRole('textbox')
    await editor.fill('second')
    await editor.press('Enter')
    await page.getByTestId('branch-switch').waitFor()
    await until('a branch', async () => (await api.sessions.tree({ sessionId })).length > before)
    await page.close()
  })

  it('has its sessions after a restart', async () => {
    const titles = (await api.sessions.list({})).map((s) => s.title).sort()
    await web.end()
    web = await startWeb({ home, workspace })
    const again = await browser.newContext()
    const { page } = await openPage(again, web.link())
    await page.getByTestId('session-item').first().waitFor()
    expect(await page.getByTestId('session-item').count()).toBe(titles.length)
    expect(page.url()).toBe(`${web.origin}/`)
    await again.close()
  })
})
