// Runs in every document before its own scripts: gives the real preload bundle the `electron` of a sandboxed preload. It is sent to the page
// as text, so it may use nothing from outside itself.

/** One message between page and main process.
 * @typedef {{ t: string, id?: number, channel?: string, args?: unknown[], data?: unknown, ports?: number[] }} Frame */
/** @typedef {typeof globalThis & { __toMain(frame: Frame): Promise<{ value?: unknown, error?: string }>, __fromMain?(frames: Frame[]): void }} Shimmed */
/** @typedef {(event: { ports: MessagePort[] }, ...args: unknown[]) => void} Listener */

/** @param {string} preload text of the preload bundle */
export function pageShim(preload) {
  const page = /** @type {Shimmed} */ (globalThis)
  /** @type {Map<string, Listener[]>} */
  const listeners = new Map()
  /** @type {Map<number, MessagePort>} */
  const ports = new Map()
  let nextPort = 1

  page.__fromMain = (frames) => {
    for (const { t, id = 0, channel = '', args = [], data } of frames) {
      if (t === 'event') for (const listener of [...(listeners.get(channel) ?? [])]) listener({ ports: [] }, ...args)
      else if (t === 'port') ports.get(id)?.postMessage(data)
      else if (t === 'close') {
        ports.get(id)?.close()
        ports.delete(id)
      }
    }
  }

  const ipcRenderer = {
    /** @param {string} channel @param {Listener} listener */
    on(channel, listener) {
      listeners.set(channel, [...(listeners.get(channel) ?? []), listener])
      return this
    },
    /** @param {string} channel @param {unknown[]} args */
    send(channel, ...args) {
      void page.__toMain({ t: 'send', channel, args: structuredClone(args) })
    },
    /** @param {string} channel @param {unknown[]} args */
    async invoke(channel, ...args) {
      const { value, error } = await page.__toMain({ t: 'invoke', channel, args: structuredClone(args) })
      if (error !== undefined) throw new Error(error)
      return value
    },
    /** @param {string} channel @param {unknown} data @param {MessagePort[]} [transfer] */
    postMessage(channel, data, transfer = []) {
      const ids = transfer.map((port) => {
        const id = nextPort++
        ports.set(id, port)
        port.onmessage = (event) => void page.__toMain({ t: 'port', id, data: event.data })
        return id
      })
      void page.__toMain({ t: 'post', channel, data, ports: ids })
    }
  }
  const contextBridge = {
    /** @param {string} name @param {object} api */
    exposeInMainWorld(name, api) {
      Object.defineProperty(globalThis, name, { value: Object.freeze(api), writable: false, configurable: false })
    }
  }
  /** @param {string} name */
  const require = (name) => {
    if (name === 'electron') return { ipcRenderer, contextBridge }
    throw new Error(`module not found: ${name}`) // a sandboxed preload has Electron and little else
  }
  const module = { exports: {} }
  new Function('require', 'module', 'exports', preload)(require, module, module.exports)
}
