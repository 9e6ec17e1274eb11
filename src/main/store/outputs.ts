// Whole outputs of which a model got a part (spec T7, C6), as files of the data folder: they may be large, and are read in parts.
import { closeSync, createReadStream, mkdirSync, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** Bytes kept of one output; what comes after them is counted only. */
const MAX_OUTPUT = 64_000_000
/** Bytes and milliseconds that all of them are kept. */
const MAX_ALL = 1_000_000_000
const MAX_AGE_MS = 30 * 24 * 3_600_000

interface Sink {
  readonly ref: string
  write(chunk: Uint8Array | string): void
  close(): Promise<{ bytes: number; kept: number }>
}
export interface OutputFiles {
  /** `foreign`: it comes from beyond the workspace, which its reference tells. */
  open(foreign?: boolean): Sink
  /** Lines from `from` (1 is the first), at most `lines` and `bytes`; with `contains` only lines that hold it, numbered. Undefined: no such output. */
  read(
    ref: string,
    part: { from: number; lines: number; bytes: number; contains?: string | undefined }
  ): Promise<{ text: string; next?: number; total: number; foreign: boolean } | undefined>
  /** Removes what is too old, and the oldest of what is too much. */
  prune(): void
}

const REF = /^(?:out|web)_[0-9a-f]{16}$/

/** `folder` is made with the first output. */
export function outputFiles(folder: string, now: () => number): OutputFiles {
  const pathOf = (ref: string): string => join(folder, `${ref}.txt`)
  return {
    open(foreign = false) {
      const ref = `${foreign ? 'web' : 'out'}_${randomBytes(8).toString('hex')}`
      let file: number | undefined
      let bytes = 0
      let kept = 0
      let refused = false
      return {
        ref,
        write(chunk) {
          const data = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
          bytes += data.length
          if (refused || kept >= MAX_OUTPUT) return
          try {
            if (file === undefined) {
              mkdirSync(folder, { recursive: true, mode: 0o700 })
              file = openSync(pathOf(ref), 'wx', 0o600)
            }
            // synchronous: it goes to the system's memory, and whoever prints faster than that is held back by it
            kept += writeSync(file, data, 0, Math.min(data.length, MAX_OUTPUT - kept))
          } catch {
            refused = true
          }
        },
        close() {
          if (file !== undefined) closeSync(file)
          file = undefined
          return Promise.resolve({ bytes, kept })
        }
      }
    },

    async read(ref, { from, lines, bytes, contains }) {
      if (!REF.test(ref)) return undefined
      const total = sizeOf(pathOf(ref))
      if (total === undefined) return undefined
      const shown: string[] = []
      let number = 0
      let size = 0
      let next: number | undefined
      const stream = createReadStream(pathOf(ref), { encoding: 'utf8' })
      for await (const line of createInterface({ input: stream, crlfDelay: Infinity })) {
        number++
        if (number < from || (contains !== undefined && !line.includes(contains))) continue
        if (shown.length >= lines || (size > 0 && size + line.length > bytes)) {
          next = number
          break
        }
        const short = line.length > bytes ? `${line.slice(0, bytes).toWellFormed()} [line cut]` : line
        shown.push(contains === undefined ? short : `${String(number)}: ${short}`)
        size += short.length + 1
      }
      stream.destroy()
      return { text: shown.join('\n'), ...(next !== undefined && { next }), total, foreign: ref.startsWith('web_') }
    },

    prune() {
      const files = filesIn(folder).sort((a, b) => b.at - a.at)
      let size = 0
      for (const { path, at, bytes } of files) {
        size += bytes
        if (now() - at > MAX_AGE_MS || size > MAX_ALL) rmSync(path, { force: true })
      }
    }
  }
}

function sizeOf(path: string): number | undefined {
  try {
    return statSync(path).size
  } catch {
    return undefined
  }
}

function filesIn(folder: string): { path: string; at: number; bytes: number }[] {
  try {
    return readdirSync(folder).flatMap((name) => {
      const path = join(folder, name)
      try {
        const { mtimeMs, size } = statSync(path)
        return [{ path, at: mtimeMs, bytes: size }]
      } catch {
        return []
      }
    })
  } catch {
    return []
  }
}
