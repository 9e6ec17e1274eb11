// A page as the main process sees it, and the messages between the two: `ipcMain` and the ports that pages send over.
import { EventEmitter } from 'node:events'

/** @typedef {import('./page-shim.mjs').Frame} Frame */

class IpcMain extends EventEmitter {
  /** @type {Map<string, (event: unknown, ...args: unknown[]) => unknown>} */
  #handlers = new Map()
  /** @param {string} channel @param {(event: unknown, ...args: unknown[]) => unknown} handler */
  handle(channel, handler) {
    if (this.#handlers.has(channel)) throw new Error(`Attempted to register a second handler for '${channel}'`)
    this.#handlers.set(channel, handler)
  }
  /** @param {unknown} event @param {string} channel @param {unknown[]} args */
  async invoke(event, channel, args) {
    const handler = this.#handlers.get(channel)
    if (!handler) throw new Error(`No handler registered for '${channel}'`)
    return handler(event, ...args)
  }
}
export const ipcMain = new IpcMain()

/** The main process's end of a MessageChannel that a page made; what arrives waits for `start()`. */
class MessagePortMain extends EventEmitter {
  #started = false
  /** @type {unknown[]} */
  #waiting = []
  /** @param {WebContents} contents @param {number} id */
  constructor(contents, id) {
    super()
    this.contents = contents
    this.id = id
  }
  /** @param {unknown} data */
  postMessage(data) {
    this.contents.toPage({ t: 'port', id: this.id, data: structuredClone(data) })
  }
  start() {
    this.#started = true
    for (const data of this.#waiting.splice(0)) this.receive(data)
  }
  close() {
    this.contents.toPage({ t: 'close', id: this.id })
    this.emit('close')
  }
  /** @param {unknown} data */
  receive(data) {
    if (this.#started) this.emit('message', { data, ports: [] })
    else this.#waiting.push(data)
  }
}

let nextId = 1

export class WebContents extends EventEmitter {
  id = nextId++
  url = ''
  /** @type {((details: { url: string }) => { action: 'allow' | 'deny' }) | undefined} */
  openHandler
  /** @type {Map<number, MessagePortMain>} */
  #ports = new Map()
  /** @type {Frame[]} */
  #outgoing = []
  #sending = false

  /** @param {import('./browser-window.mjs').BrowserWindow} window */
  constructor(window) {
    super()
    this.window = window
    /** One object for life: the main process compares frames by identity. */
    this.mainFrame = Object.defineProperty({}, 'url', { get: () => this.url })
  }
  getURL() {
    return this.url
  }
  /** @param {WebContents['openHandler']} handler */
  setWindowOpenHandler(handler) {
    this.openHandler = handler
  }
  /** @param {string} channel @param {unknown[]} args */
  send(channel, ...args) {
    this.toPage({ t: 'event', channel, args: structuredClone(args) })
  }

  /** A new document: what belonged to the old one is closed. */
  forgetPorts() {
    for (const port of this.#ports.values()) port.emit('close')
    this.#ports.clear()
  }
  /** @param {Frame} frame */
  toPage(frame) {
    this.#outgoing.push(frame)
    void this.#flush()
  }
  async #flush() {
    if (this.#sending) return
    this.#sending = true
    const page = await this.window.page
    while (this.#outgoing.length > 0 && !this.window.isDestroyed()) {
      const frames = this.#outgoing.splice(0)
      const hand = (/** @type {Frame[]} */ given) => /** @type {import('./page-shim.mjs').Shimmed} */ (globalThis).__fromMain?.(given)
      await page.evaluate(hand, frames).catch(() => undefined) // the page may be gone
    }
    this.#sending = false
  }

  /** @param {Frame} frame @param {boolean} isMain whether it comes from the page itself, not from a frame inside it */
  fromPage(frame, isMain) {
    const event = { sender: this, senderFrame: isMain ? this.mainFrame : {}, ports: /** @type {MessagePortMain[]} */ ([]) }
    const { id = 0, channel = '', args = [] } = frame
    switch (frame.t) {
      case 'invoke':
        return ipcMain.invoke(event, channel, args).then(
          (value) => ({ value: structuredClone(value) }),
          (error) => ({ error: `Error invoking remote method '${channel}': ${String(error)}` })
        )
      case 'send':
        ipcMain.emit(channel, event, ...args)
        break
      case 'post':
        for (const portId of frame.ports ?? []) {
          const port = new MessagePortMain(this, portId)
          this.#ports.set(portId, port)
          event.ports.push(port)
        }
        ipcMain.emit(channel, event, frame.data)
        break
      case 'port':
        this.#ports.get(id)?.receive(frame.data)
        break
      case 'close':
        this.#ports.get(id)?.emit('close')
        this.#ports.delete(id)
    }
    return undefined
  }
}
