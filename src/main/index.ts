// Entry of the desktop app: a table of contents. One instance a data folder, one app, one window; everything ends with it.
//
// Nothing is awaited at the top level: Electron becomes ready only after this module has been evaluated, so waiting for that here would wait
// for ever (https://github.com/electron/electron/issues/40719).
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { app, type BrowserWindow, dialog, Menu, shell } from 'electron'
import { composeApp, type App } from './app/compose'
import { endWith } from './app/lifetime'
import { homeFolder, version } from './app/place'
import { visitOwner } from './app/owner/visitor'
import { createMenu } from './desktop/menu'
import { lockPages, openWindow, serveWindows, show } from './desktop/window'

/** Exit code when the data folder cannot be used, as on the command line. */
const UNUSABLE = 3

const home = homeFolder(option('home'))
const refused = takeProfile()
if (refused !== undefined) {
  whenReady(() => {
    refuse(refused)
  })
} else if (app.requestSingleInstanceLock()) whenReady(() => void main())
else app.quit() // the running one was told and comes to the front

async function main(): Promise<void> {
  let window: BrowserWindow | undefined
  const tau = await start(() => {
    if (window) show(window)
    return {}
  })
  if (!tau) return
  Menu.setApplicationMenu(Menu.buildFromTemplate(createMenu({ mac: process.platform === 'darwin', developing: !app.isPackaged })))
  lockPages()
  serveWindows(tau.router)
  const opened = (window = openWindow())
  app.on('second-instance', () => {
    show(opened)
  })
  endTogether(tau)
}

/** What Chromium keeps goes into the data folder as well: nothing lies elsewhere, and another `--home` is another instance. */
function takeProfile(): unknown {
  const folder = join(home, 'window')
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    app.setPath('userData', folder)
    return undefined
  } catch (error) {
    return error
  }
}

/** Undefined when the data folder cannot be used: the person was told why. */
async function start(bringUp: () => { url?: string }): Promise<App | undefined> {
  const workspace = option('workspace')
  try {
    return await composeApp({
      home,
      host: 'desktop',
      show: bringUp,
      version,
      engineEntry: join(import.meta.dirname, 'engine.js'),
      ...(workspace !== undefined && { workspace })
    })
  } catch (error) {
    void handOver(error)
    return undefined
  }
}

/** Another host owns the folder: it is brought up instead, in a browser where it is a page. */
async function handOver(error: unknown): Promise<void> {
  const inUse = error instanceof Error && 'code' in error && error.code === 'in_use'
  const visit = inUse ? await visitOwner(home) : undefined
  const url = visit ? (await visit.client.app.show()).url : undefined
  visit?.close()
  if (url === undefined) {
    refuse(error)
    return
  }
  await shell.openExternal(url)
  app.quit()
}

/** Window, runs, engine and database end together, whichever is told to end first; the data folder is free after that. */
function endTogether(tau: App): void {
  let closed = false
  const close = async (): Promise<void> => {
    await tau.close()
    closed = true
  }
  app.on('window-all-closed', () => {
    app.quit()
  })
  app.on('before-quit', (event) => {
    if (closed) return
    event.preventDefault() // what runs is stopped and stored first; then we quit for good
    close().then(() => {
      app.quit()
    }, fail)
  })
  endWith(async () => {
    await close()
    return 0
  })
}

function refuse(error: unknown): void {
  dialog.showErrorBox('Tau', error instanceof Error ? error.message : String(error))
  app.exit(UNUSABLE)
}

function fail(error: unknown): void {
  console.error(error)
  app.exit(1)
}

function whenReady(then: () => void): void {
  app.whenReady().then(then).catch(fail)
}

/** `--name=value`; Chromium's own switches stand beside ours, so unknown ones are left alone. */
function option(name: string): string | undefined {
  return process.argv.find((a) => a.startsWith(`--${name}=`))?.slice(name.length + 3)
}
