// Entry of the desktop app: a table of contents. One instance, one app, one window; everything ends with it.
import { join } from 'node:path'
import { app, dialog } from 'electron'
import { composeApp, type App } from './app/compose'
import { endWith } from './app/lifetime'
import { homeFolder, version } from './app/place'
import { lockPages, openWindow, serveWindows } from './desktop/window'

if (app.requestSingleInstanceLock()) await main()
else app.quit()

async function main(): Promise<void> {
  await app.whenReady()
  const tau = start()
  if (!tau) return
  let window = openFirst(tau)
  app.on('second-instance', () => {
    if (window.isDestroyed()) window = openWindow()
    if (window.isMinimized()) window.restore()
    window.focus()
  })
  app.on('activate', () => {
    if (window.isDestroyed()) window = openWindow()
  })
  app.on('window-all-closed', () => {
    app.quit()
  })
  let closed = false
  app.on('before-quit', (event) => {
    if (closed) return
    event.preventDefault() // runs and engine end first; then we quit for good
    void tau.close().finally(() => {
      closed = true
      app.quit()
    })
  })
  endWith(async () => {
    await tau.close()
    closed = true
    return 0
  })
}

/** Undefined when the data folder cannot be used: the person was told why. */
function start(): App | undefined {
  const given = (name: string): string | undefined => process.argv.find((a) => a.startsWith(`--${name}=`))?.slice(name.length + 3)
  const workspace = given('workspace')
  try {
    return composeApp({
      home: homeFolder(given('home')),
      host: 'desktop',
      version,
      engineEntry: join(import.meta.dirname, 'engine.js'),
      ...(workspace !== undefined && { workspace })
    })
  } catch (error) {
    dialog.showErrorBox('Tau', error instanceof Error ? error.message : String(error))
    app.exit(3)
    return undefined
  }
}

function openFirst(tau: App): ReturnType<typeof openWindow> {
  lockPages(app)
  serveWindows(tau.router)
  return openWindow()
}
