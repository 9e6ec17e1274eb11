// When a host ends: a signal, the end of the terminal, or the end of the program that started it. Each ends everything, once.

/** Calls `stop` on the first reason to end and leaves with its exit code; a second signal leaves at once. */
export function endWith(stop: (reason: string) => Promise<number>): void {
  let ending = false
  const end = (reason: string): void => {
    if (ending) process.exit(130)
    ending = true
    clearInterval(watch)
    stop(reason).then(
      (code) => process.exit(code),
      (error: unknown) => {
        console.error(error)
        process.exit(1)
      }
    )
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      end(signal)
    })
  }
  // npm passes signals to its shell only, and a killed starter passes none: we notice that our parent is another one
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.env['TAU_PARENT'] !== undefined && process.ppid !== parent) end('parent ended')
  }, 1_000)
  watch.unref()
}
