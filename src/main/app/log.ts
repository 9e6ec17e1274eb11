// The log file: one JSON line per key point, for people with jq (spec O1). Nothing that a person or a model said is written to it.
import { mkdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { destination, pino, type Logger } from 'pino'

const MAX_BYTES = 5_000_000

/** `<home>/logs/tau.log`; the former one is kept beside it when it has grown large. In-process: pino's worker transports do not survive bundling. */
export function openLogFile(home: string): Logger {
  try {
    return openFile(home)
  } catch {
    return pino({ level: 'silent' }) // where nothing can be written, nothing is logged
  }
}

function openFile(home: string): Logger {
  const folder = join(home, 'logs')
  const file = join(folder, 'tau.log')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_BYTES) renameSync(file, join(folder, 'tau.1.log'))
  return pino(
    { level: process.env['TAU_LOG'] ?? 'info', base: { pid: process.pid }, redact: ['*.token', '*.apiKey', '*.authorization'] },
    destination({ dest: file, sync: true, mode: 0o600 })
  )
}
