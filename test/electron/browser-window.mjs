// A window: one page of the Chromium in browser.mjs, with the rules that the main process sets for it.
import { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, extname, relative, resolve } from 'node:path'
import { app } from './app.mjs'
import { openBrowser } from './browser.mjs'
import { onCommand, tell } from './control.mjs'
import { pageShim } from './page-shim.mjs'
import { WebContents } from './web-contents.mjs'

/** Files are served on a made-up origin: module scripts do not load from `file:` in a plain Chromium. */
const ORIGIN = 'http://app.invalid'
/** @type {Record<string, string>} */
const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm'
}
/** @type {Set<BrowserWindow>} */
const windows = new Set()

export class BrowserWindow extends EventEmitter {
  #destroyed = false
  #minimized = false
  /** Folder behind ORIGIN. */
  #root = ''
  /** While the main process itself loads something, which asks nobody. */
  #loading = false

  static getAllWindows() {
    return [...windows]
  }

  /** @param {{ width?: number, height?: number, webPreferences?: { preload?: string } }} options */
  constructor(options = {}) {
    super()
    this.options = options
    this.webContents = new WebContents(this)
    this.page = this.#open()
    windows.add(this)
    app.emit('web-contents-created', {}, this.webContents)
  }

  async #open() {
    const { width = 800, height = 600, webPreferences } = this.options
    const context = await openBrowser({ width, height, locale: app.getLocale() })
    const first = context.pages()[0]
    const page = windows.size === 1 && first ? first : await context.newPage()
    // anything else that opens was opened by a page, and the main process has been asked about it
    context.on('page', (other) => {
      if (other !== page) void other.close()
    })
    page.on('pageerror', (error) => {
      tell('page-error', { text: String(error) })
    })
    page.on('console', (message) => {
      if (message.type() === 'error') tell('page-error', { text: message.text() })
    })
    page.on('load', () => {
      this.webContents.url = page.url()
      this.webContents.emit('did-finish-load')
      this.emit('ready-to-show')
    })
    page.on('close', () => {
      this.#gone()
    })
    await page.exposeBinding('__toMain', ({ frame }, message) => this.webContents.fromPage(message, frame === page.mainFrame()))
    const { preload } = webPreferences ?? {}
    if (preload !== undefined) await page.addInitScript(`(${pageShim.toString()})(${JSON.stringify(readFileSync(preload, 'utf8'))})`)
    const cdp = await context.newCDPSession(page)
    await cdp.send('Page.enable')
    cdp.on('Page.windowOpen', ({ url }) => this.webContents.openHandler?.({ url }))
    await page.route('**/*', (route) => this.#answer(route, page))
    return page
  }

  /** @param {import('playwright-core').Route} route @param {import('playwright-core').Page} page */
  async #answer(route, page) {
    const request = route.request()
    const url = request.url()
    const isMainFrame = request.isNavigationRequest() && request.frame() === page.mainFrame()
    if (request.isNavigationRequest() && !this.#loading && this.#refuses(url, isMainFrame)) return route.abort('aborted')
    if (isMainFrame) this.webContents.forgetPorts()
    if (!url.startsWith(`${ORIGIN}/`)) return route.abort() // nothing of a test leaves this machine
    const path = resolve(this.#root, `.${new URL(url).pathname}`)
    const body = relative(this.#root, path).startsWith('..') ? undefined : await readFile(path).catch(() => undefined)
    return body ? route.fulfill({ body, contentType: TYPES[extname(path)] ?? 'application/octet-stream' }) : route.fulfill({ status: 404 })
  }
  /** @param {string} url @param {boolean} isMainFrame */
  #refuses(url, isMainFrame) {
    let refused = false
    const preventDefault = () => {
      refused = true
    }
    this.webContents.emit('will-frame-navigate', { url, isMainFrame, preventDefault })
    return refused
  }

  /** @param {string} file */
  async loadFile(file) {
    const page = await this.page
    this.#root = dirname(resolve(file))
    this.#loading = true
    await page.goto(`${ORIGIN}/${relative(this.#root, resolve(file))}`).catch((error) => {
      if (!this.#destroyed) throw error // closed while it was loading
    })
    this.#loading = false
  }
  reload() {
    void this.page.then((page) => page.reload())
  }
  show() {
    tell('shown')
  }
  focus() {
    tell('focused')
  }
  isMinimized() {
    return this.#minimized
  }
  minimize() {
    this.#minimized = true
  }
  restore() {
    this.#minimized = false
  }
  isDestroyed() {
    return this.#destroyed
  }
  /** As the person does it. */
  close() {
    return this.page.then((page) => page.close())
  }
  destroy() {
    void this.close()
  }
  #gone() {
    if (this.#destroyed) return
    this.#destroyed = true
    this.webContents.forgetPorts()
    windows.delete(this)
    this.emit('closed')
    if (windows.size === 0 && !app.quitting) app.emit('window-all-closed')
  }
}

app.closeWindows = async () => {
  await Promise.all([...windows].map((window) => window.close()))
}
onCommand('close-window', () => [...windows][0]?.close())
onCommand('minimize-window', () => [...windows][0]?.minimize())
onCommand('crash-page', () => [...windows][0]?.webContents.emit('render-process-gone', {}, { reason: 'crashed' }))
onCommand('preferences', () => ({ ...[...windows][0]?.options.webPreferences }))
