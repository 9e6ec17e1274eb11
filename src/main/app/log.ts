// The log file: one JSON line per key point, for people with jq (spec O1). Nothing that a person or a model said is written to it.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { destination, pino, type Logger } from 'pino'

export type { Logger }

/** `<home>/logs/tau.log`; in-process, as pino's worker transports do not survive bundling. */
export function openLogFile(home: string): Logger {
  const folder = join(home, 'logs')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return pino(
    { level: process.env['TAU_LOG'] ?? 'info', base: { pid: process.pid }, redact: ['*.token', '*.apiKey', '*.authorization'] },
    destination({ dest: join(folder, 'tau.log'), mkdir: true, sync: true, mode: 0o600 })
  )
}
