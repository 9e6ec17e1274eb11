// Runs the built desktop app in plain Node, with a stand-in for the module 'electron' whose windows are pages of a real Chromium:
//
//   node test/electron/run.mjs out/main/index.js [--home=DIR …]        TAU_CHROMIUM, TAU_TEST_DEVTOOLS: see browser.mjs
//
// What it cannot show: Electron's own sandbox and isolated worlds (the preload shares the page's world here), native menus and dialogs.
import { registerHooks } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const standIn = new URL('./electron.mjs', import.meta.url).href
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron' ? { url: standIn, shortCircuit: true, format: 'module' } : next(specifier, context)
})
const { app } = await import('./app.mjs')
await import(pathToFileURL(resolve(process.argv[2] ?? 'out/main/index.js')).href)
app.becomeReady() // as in Electron: only once the whole entry has been evaluated
