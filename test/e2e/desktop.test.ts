// The built desktop app, from its window to its end, in the stand-in for Electron (test/electron): real main process, preload, page and
// Chromium, real inference in the embedded engine.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openStore } from '../../src/main/store/store'
import { type Desktop, descendantsOf, isRunning, openDesktop, type ProcessInfo, root, startDesktop } from '../support/desktop'
import { freshFolder } from '../support/harness'

const noBrowser = process.env['TAU_CHROMIUM'] === undefined

describe.skipIf(noBrowser)('the desktop app', () => {
  const home = freshFolder('home')
  const workspace = freshFolder('work')
  let tau: Desktop
  const seen = (id: string, text: string): Promise<void> => tau.page.getByTestId(id).filter({ hasText: text }).last().waitFor()

  beforeAll(async () => {
    mkdirSync(join(home, 'models'))
    copyFileSync(join(root, 'test/fixtures/tiny/tiny-tau.gguf'), join(home, 'models/tiny-tau.gguf'))
    writeFileSync(join(workspace, 'notes.txt'), 'hello from the notes\n')
    tau = await openDesktop({ home, workspace })
  })
  afterAll(() => {
    tau.kill()
    rmSync(home, { recursive: true, force: true })
    rmSync(workspace, { recursive: true, force: true })
  })

  it('asks for the strictest page there is', async () => {
    const strict = { sandbox: true, contextIsolation: true, nodeIntegration: false, webSecurity: true }
    expect(await tau.command('preferences')).toMatchObject(strict)
  })

  it('gives the page a bridge and nothing of Node', async () => {
    await tau.page.getByTestId('start-view').waitFor()
    const types = await tau.page.evaluate(() => {
      const all = globalThis as unknown as Record<string, unknown>
      return ['process', 'require', 'module', 'Buffer', 'global', 'ipcRenderer', 'electron'].map((name) => typeof all[name])
    })
    expect(new Set(types)).toEqual(new Set(['undefined']))
    expect(await tau.page.evaluate(() => (globalThis as { tau?: unknown }).tau)).toEqual({ host: 'desktop' })
  })

  it('runs no script and shows no page that is not its own', async () => {
    const violated = await tau.page.evaluate(async () => {
      const directives: string[] = []
      const both = new Promise<void>((resolve) => {
        document.addEventListener('securitypolicyviolation', (event) => {
          directives.push(event.effectiveDirective)
          if (directives.length === 2) resolve()
        })
      })
      const script = Object.assign(document.createElement('script'), { textContent: 'globalThis.injected = true' })
      const frame = Object.assign(document.createElement('iframe'), { src: 'https://example.com/' })
      document.body.append(script, frame)
      await both
      script.remove()
      frame.remove()
      return 'injected' in globalThis ? ['it ran'] : directives.sort()
    })
    expect(violated).toEqual(['frame-src', 'script-src-elem'])
  })

  it('plays the tour through the page: an answer, a reading tool, and a change once it is allowed', async () => {
    await tau.page.getByTestId('start-tour').click()
    const card = tau.page.getByTestId('approval-card')
    await tau.page.getByTestId('send').click() // the first words are there already
    await card.waitFor()
    await expect.poll(() => tau.page.locator('[data-testid=tool-card][data-tool=list_dir]').getAttribute('data-code')).toBe('ok')
    const [tour] = readdirSync(join(home, 'tour'))
    const file = join(home, 'tour', tour ?? '', 'hello.txt')
    expect(existsSync(file)).toBe(false)
    await card.getByTestId('allow-once').click()
    await seen('message-assistant', 'only because you allowed it')
    expect(readFileSync(file, 'utf8')).toContain('Hello from Tau.')
  })

  it('answers by real inference, with a tool on the way', async () => {
    await tau.page.getByTestId('new-session').click()
    await expect.poll(() => tau.page.getByTestId('message-user').count()).toBe(0) // the composer is the new session's from here on
    await tau.page.getByTestId('composer').fill('list')
    await tau.page.getByTestId('send').click()
    await seen('message-assistant', 'Done: the tool has answered')
    const card = tau.page.locator('[data-testid=tool-card][data-tool=list_dir]')
    expect(await card.getAttribute('data-code')).toBe('ok')
  })

  it('opens web links in the browser of the person and goes nowhere itself', async () => {
    const before = tau.page.url()
    await tau.page.evaluate(() => {
      window.open('https://example.com/read')
      window.open('file:///etc/passwd')
      location.href = 'https://example.com/away'
    })
    expect(await tau.heard('opened-external')).toMatchObject({ url: 'https://example.com/read' })
    await tau.page.evaluate(() => {
      const link = Object.assign(document.createElement('a'), { href: 'https://example.com/link', target: '_blank', rel: 'noopener' })
      document.body.append(link)
      link.click()
      link.remove()
    })
    expect(await tau.heard('opened-external')).toMatchObject({ url: 'https://example.com/link' })
    await seen('message-assistant', 'Done: the tool has answered')
    expect(tau.page.url()).toBe(before)
    await expect.poll(() => tau.page.context().pages().length).toBe(1)
    expect(tau.events.filter((e) => e.event === 'opened-external')).toHaveLength(2)
  })

  it('lets a page copy text and tell of a question, and refuses it everything else', async () => {
    for (const name of ['clipboard-sanitized-write', 'notifications'])
      expect(await tau.command('permission', name)).toEqual({ requested: true, checked: true })
    for (const name of ['media', 'geolocation', 'clipboard-read', 'openExternal', 'fileSystem'])
      expect(await tau.command('permission', name)).toEqual({ requested: false, checked: false })
  })

  it('draws the conversation again after its page has crashed', async () => {
    const isOld = (): Promise<boolean> => tau.page.evaluate(() => 'old' in globalThis)
    await tau.page.evaluate(() => Object.assign(globalThis, { old: true }))
    await tau.command('crash-page')
    await expect.poll(() => isOld().catch(() => true)).toBe(false)
    await seen('message-assistant', 'Done: the tool has answered')
  })

  it('comes to the front when it is started a second time', async () => {
    const second = startDesktop({ home, workspace })
    expect(await second.ended).toBe(0)
    await tau.heard('focused')
    expect(second.events.map((e) => e.event)).toEqual(['exit'])
  })

  it('ends everything with its window', async () => {
    const below: ProcessInfo[] = descendantsOf(tau.pid)
    if (process.platform === 'linux') expect(below.some((p) => p.command.includes('engine.js'))).toBe(true)
    void tau.command('close-window')
    expect(await tau.ended).toBe(0)
    await expect.poll(() => below.filter((p) => isRunning(p.pid))).toEqual([])
    expect(existsSync(join(home, 'owner.json'))).toBe(false)
  })

  it('knows its sessions the next time, and stops what runs when it is told to quit', async () => {
    tau = await openDesktop({ home, workspace })
    const items = tau.page.getByTestId('session-item')
    await expect.poll(() => items.count()).toBe(2)
    await items.filter({ hasText: 'list' }).click()
    await seen('message-assistant', 'Done: the tool has answered')
    await tau.page.getByTestId('composer').fill('loop')
    await tau.page.getByTestId('send').click()
    await seen('live', 'round and round')
    void tau.command('quit')
    expect(await tau.ended).toBe(0)

    tau = await openDesktop({ home, workspace })
    await expect.poll(() => tau.page.locator('[data-testid=session-item][data-state=cancelled]').count()).toBe(1)
    expect(tau.events.filter((e) => e.event === 'page-error')).toEqual([])
    void tau.command('close-window')
    expect(await tau.ended).toBe(0)
  })
})

describe.skipIf(noBrowser)('a data folder that cannot be used', () => {
  const home = freshFolder('home')
  const workspace = freshFolder('work')
  afterEach(() => {
    rmSync(home, { recursive: true, force: true })
  })
  afterAll(() => {
    rmSync(workspace, { recursive: true, force: true })
  })
  const told = async (): Promise<unknown> => {
    const tau = startDesktop({ home, workspace })
    expect(await tau.ended).toBe(3)
    expect(tau.events.map((e) => e.event)).toEqual(['error-box', 'exit'])
    return tau.events[0]?.['content']
  }

  it('is named with its owner when another Tau has it', async () => {
    const store = openStore(home, 'web')
    expect(await told()).toMatch(/already running on .*\(web, process \d+.*--home DIR/)
    store.close()
  })

  it('is named when it is no folder', async () => {
    writeFileSync(home, 'a file')
    expect(await told()).toMatch(/EEXIST|ENOTDIR/)
  })
})
