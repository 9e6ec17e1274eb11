// The `app` object: life and death of the program, as Electron's documentation tells it.
import { EventEmitter } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onCommand, tell } from './control.mjs'
import { closeBrowser } from './browser.mjs'

class App extends EventEmitter {
  isPackaged = process.env['TAU_TEST_PACKAGED'] !== undefined
  #ready = Promise.withResolvers()
  /** @type {Record<string, string>} */
  #paths = {}
  /** Windows that are to be closed before the program ends. @type {() => Promise<void>} */
  closeWindows = () => Promise.resolve()
  quitting = false

  /** Called when the entry has been evaluated: before that no Electron is ready, whoever waits for it. */
  becomeReady() {
    this.#ready.resolve(undefined)
    this.emit('ready')
  }
  whenReady() {
    return this.#ready.promise
  }
  /** @param {string} name */
  getPath(name) {
    return this.#paths[name] ?? join(tmpdir(), `tau-stand-in-${String(process.pid)}-${name}`)
  }
  /** @param {string} name @param {string} path */
  setPath(name, path) {
    if (!existsSync(path)) throw new Error(`Failed to set path: ${path} does not exist`)
    this.#paths[name] = path
  }
  getLocale() {
    return process.env['TAU_TEST_LOCALE'] ?? 'en-US'
  }

  /** One process a profile folder, as Chromium has it; the second one's arguments reach the first. */
  requestSingleInstanceLock() {
    const lock = join(this.getPath('userData'), 'stand-in.lock')
    const knock = join(this.getPath('userData'), 'stand-in.knock')
    if (existsSync(lock) && isAlive(Number(readFileSync(lock, 'utf8')))) {
      writeFileSync(knock, JSON.stringify(process.argv))
      return false
    }
    writeFileSync(lock, String(process.pid))
    setInterval(() => {
      if (!existsSync(knock)) return
      rmSync(knock)
      this.emit('second-instance', {}, [], process.cwd())
    }, 50).unref()
    process.once('exit', () => {
      rmSync(lock, { force: true })
    })
    return true
  }

  async quit() {
    let prevented = false
    this.emit('before-quit', {
      preventDefault() {
        prevented = true
      }
    })
    if (prevented || this.quitting) return
    this.quitting = true
    await this.closeWindows()
    this.emit('will-quit', {})
    await this.exit(0)
  }
  async exit(code = 0) {
    await closeBrowser()
    this.emit('quit', {}, code)
    tell('exit', { code })
    process.exit(code)
  }
}

export const app = new App()
onCommand('quit', () => {
  void app.quit()
})

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
