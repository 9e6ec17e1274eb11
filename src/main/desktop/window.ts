// Windows of the desktop host: sandboxed pages that may talk to us and to nobody else (spec D1, design §3.12). The page brings its own
// Content-Security-Policy (src/renderer/index.html).
import { join } from 'node:path'
import { RPCHandler } from '@orpc/server/message-port'
import { app, BrowserWindow, dialog, ipcMain, session, shell, type WebContents } from 'electron'
import type { Router } from '../app/router'

/** Pages that we opened: nobody else is answered. */
const ours = new WeakSet<WebContents>()

/** Serves the API to every window of this app: the page sends one end of a MessageChannel through the preload. */
export function serveWindows(router: Router): void {
  const handler = new RPCHandler(router)
  ipcMain.on('orpc:connect', (event) => {
    const [port] = event.ports
    if (!port) return
    if (!ours.has(event.sender) || event.senderFrame !== event.sender.mainFrame) {
      port.close() // a frame inside a page has no business here
      return
    }
    handler.upgrade(port)
    port.start()
  })
}

export function openWindow(): BrowserWindow {
  const window = new BrowserWindow({
    width: 1180,
    height: 780,
    minWidth: 380,
    minHeight: 420,
    show: false,
    autoHideMenuBar: true,
    title: 'Tau',
    webPreferences: {
      preload: join(import.meta.dirname, '../preload/index.cjs'),
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      webSecurity: true,
      spellcheck: false
    }
  })
  ours.add(window.webContents)
  window.once('ready-to-show', () => {
    window.show()
  })
  surviveCrash(window)
  const url = app.isPackaged ? undefined : process.env['ELECTRON_RENDERER_URL'] // set by `npm run dev`
  void (url === undefined ? window.loadFile(join(import.meta.dirname, '../renderer/index.html')) : window.loadURL(url))
  return window
}

/** Brings a window to the front. */
export function show(window: BrowserWindow): void {
  if (window.isDestroyed()) return // everything is ending already
  if (window.isMinimized()) window.restore()
  window.focus()
}

/** A page can go nowhere and open nothing, and ask for next to nothing; web links leave for the person's browser. */
export function lockPages(): void {
  session.defaultSession.setPermissionRequestHandler((_contents, permission, answer) => {
    answer(ALLOWED.has(permission))
  })
  session.defaultSession.setPermissionCheckHandler((_contents, permission) => ALLOWED.has(permission))
  app.on('web-contents-created', (_event, contents) => {
    contents.on('will-frame-navigate', (event) => {
      if (event.url !== contents.getURL()) event.preventDefault() // the same address is a reload
    })
    contents.on('will-attach-webview', (event) => {
      event.preventDefault()
    })
    contents.setWindowOpenHandler(({ url }) => {
      if (isWebLink(url)) void shell.openExternal(url)
      return { action: 'deny' }
    })
  })
}

/** Copy buttons: plain text onto the clipboard after a click; reading it stays refused. A question that waits while the window is hidden tells of itself. */
const ALLOWED: ReadonlySet<string> = new Set(['clipboard-sanitized-write', 'notifications'])

const isWebLink = (url: string): boolean => URL.canParse(url) && ['http:', 'https:', 'mailto:'].includes(new URL(url).protocol)

const CRASH_LOOP_MS = 10_000

/** Runs live in this process and go on without a page; the page draws them again from the store. One that keeps crashing is given up. */
function surviveCrash(window: BrowserWindow): void {
  let last = -Infinity
  window.webContents.on('render-process-gone', (_event, { reason }) => {
    if (reason === 'clean-exit' || window.isDestroyed()) return
    const now = performance.now()
    if (now - last > CRASH_LOOP_MS) window.reload()
    else {
      dialog.showErrorBox('Tau', `The window keeps crashing (${reason}). Tau ends; your conversations are stored.`)
      window.destroy()
    }
    last = now
  })
}
