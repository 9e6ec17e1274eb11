// Contents of files, many in one file: a workspace of fifty thousand files is kept with one flush and not fifty thousand (docs/decisions/012).
import { closeSync, fdatasyncSync, mkdirSync, openSync, readdirSync, readSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'

export interface Packs {
  /** Puts bytes at the end of the newest pack. Throws what the disk says; what was put before stays. */
  put(bytes: Uint8Array): { pack: number; at: number }
  /** What was put so far survives a power cut when this returns. Throws what the disk says. */
  flush(): void
  /** Undefined: it is not there any more, or not whole. */
  read(pack: number, at: number, size: number): Buffer | undefined
  /** Bytes by pack. */
  sizes(): Map<number, number>
  /** Removes packs, but never the one that is written to. */
  remove(packs: Iterable<number>): void
  close(): void
}

/** A pack that has grown to this is closed: small enough to be let go of when little of it is still wanted. */
const PACK_BYTES = 64_000_000
const BUFFER_BYTES = 4_000_000

/** `folder` is made with the first bytes. Each process begins a pack of its own, so a torn end of a killed one hurts nothing that is named. */
export function openPacks(folder: string): Packs {
  const pathOf = (pack: number): string => join(folder, `${String(pack)}.pack`)
  const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
  let current: { readonly pack: number; readonly file: number; written: number; waiting: number } | undefined

  function begin(): NonNullable<typeof current> {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const pack = Math.max(0, ...namesIn(folder)) + 1
    return (current = { pack, file: openSync(pathOf(pack), 'wx+', 0o600), written: 0, waiting: 0 })
  }

  function write(to: NonNullable<typeof current>, bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length;) done += writeSync(to.file, bytes, done, bytes.length - done, to.written + done)
    to.written += bytes.length
  }
  function empty(to: NonNullable<typeof current>): void {
    if (to.waiting === 0) return
    write(to, buffer.subarray(0, to.waiting))
    to.waiting = 0
  }
  function end(): void {
    if (!current) return
    closeSync(current.file)
    current = undefined
  }

  return {
    put(bytes) {
      if (current && current.written + current.waiting > PACK_BYTES) {
        this.flush()
        end()
      }
      const to = current ?? begin()
      if (to.waiting + bytes.length > BUFFER_BYTES) empty(to)
      const at = to.written + to.waiting
      if (bytes.length > BUFFER_BYTES) write(to, bytes)
      else {
        buffer.set(bytes, to.waiting)
        to.waiting += bytes.length
      }
      return { pack: to.pack, at }
    },
    flush() {
      if (!current) return
      empty(current)
      fdatasyncSync(current.file)
    },
    read(pack, at, size) {
      const bytes = Buffer.alloc(size)
      let file: number | undefined
      try {
        if (current?.pack === pack) empty(current)
        file = openSync(pathOf(pack), 'r')
        let done = 0
        for (let n = -1; done < size && n !== 0; done += n) n = readSync(file, bytes, done, size - done, at + done)
        return done === size ? bytes : undefined
      } catch {
        return undefined
      } finally {
        if (file !== undefined) closeSync(file)
      }
    },
    sizes: () => new Map(namesIn(folder).map((pack) => [pack, sizeOf(pathOf(pack))])),
    remove(packs) {
      for (const pack of packs) if (pack !== current?.pack) rmSync(pathOf(pack), { force: true })
    },
    close: end
  }
}

function namesIn(folder: string): number[] {
  try {
    return readdirSync(folder).flatMap((name) => (/^[0-9]{1,15}\.pack$/.test(name) ? [Number.parseInt(name, 10)] : []))
  } catch {
    return []
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size
  } catch {
    return 0
  }
}
