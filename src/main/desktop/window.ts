// Windows of the desktop host: sandboxed pages that may talk to us and to nobody else (spec D1, design §3.12).
import { join } from 'node:path'
import { RPCHandler } from '@orpc/server/message-port'
import { type App as ElectronApp, BrowserWindow, ipcMain, session, shell } from 'electron'
import type { Router } from '../app/router'

/** Serves the API to every window of this app: the page sends one end of a MessageChannel through the preload. */
export function serveWindows(router: Router): void {
  const handler = new RPCHandler(router)
  ipcMain.on('orpc:connect', (event) => {
    const [port] = event.ports
    if (!port || event.senderFrame !== event.sender.mainFrame) return // frames inside a page have no business here
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
  window.once('ready-to-show', () => {
    window.show()
  })
  const url = process.env['ELECTRON_RENDERER_URL']
  void (url === undefined ? window.loadFile(join(import.meta.dirname, '../renderer/index.html')) : window.loadURL(url))
  return window
}

/** A page can go nowhere, open nothing and ask for nothing; web links leave for the person's browser. */
export function lockPages(app: ElectronApp): void {
  session.defaultSession.setPermissionRequestHandler((_contents, _permission, answer) => {
    answer(false)
  })
  session.defaultSession.setPermissionCheckHandler(() => false)
  app.on('web-contents-created', (_event, contents) => {
    contents.on('will-navigate', (event) => {
      event.preventDefault()
    })
    contents.on('will-attach-webview', (event) => {
      event.preventDefault()
    })
    contents.setWindowOpenHandler(({ url }) => {
      if (/^(https?|mailto):/i.test(url)) void shell.openExternal(url)
      return { action: 'deny' }
    })
  })
}
