// How a test in another process sees and steers the stand-in: messages over Node's own channel to the process that forked it.

/** @type {Map<string, (argument: string) => unknown>} */
const commands = new Map()

/** @param {string} event @param {Record<string, unknown>} [details] */
export function tell(event, details = {}) {
  process.send?.({ event, ...details })
}

/** @param {string} name @param {(argument: string) => unknown} run what it returns is the answer */
export function onCommand(name, run) {
  commands.set(name, run)
}

process.on('message', async (message) => {
  const { id, command, argument } = /** @type {{ id: number, command: string, argument: string }} */ (message)
  tell('answer', { id, value: await commands.get(command)?.(argument) })
})
