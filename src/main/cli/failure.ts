/** Exit codes; `tau --help` and docs/cli.md list them. */
export const EXIT = { ok: 0, failed: 1, usage: 2, folder: 3, missing: 4, budget: 5, asks: 6, denied: 7, stopped: 130 } as const

/** An end that the person can do something about: printed as one line, without a stack. */
export class Failure extends Error {
  readonly exitCode: number
  constructor(exitCode: number, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}
