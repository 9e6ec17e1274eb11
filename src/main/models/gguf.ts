// Reads the header of a GGUF file: just enough to list a model without starting the engine. The file may come from anywhere, so every length
// in it is doubted (design §3.12). Format: magic, version, counts, then key-value pairs; weights are never read.
import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { abilitiesOf } from '../../shared/tool-text'

export interface GgufHeader {
  readonly architecture: string
  /** `general.type`: `model`, `mmproj`, `adapter` … */
  readonly type?: string
  readonly name?: string
  readonly contextLength?: number
  readonly template?: string
}

/** A file of a models folder; `header` missing: it is no GGUF that can be read. */
export interface GgufFile {
  /** File name without `.gguf`. */
  readonly name: string
  readonly path: string
  readonly size: number
  readonly header?: GgufHeader
  readonly tools: boolean
}

/** Lists the chat models among the GGUF files of a folder; none when there is no such folder. Never throws. */
export type ListGguf = () => Promise<GgufFile[]>

export function createGgufLister(folder: string): ListGguf {
  /** Headers by path, size and time: a list is asked for often, and a header can be megabytes of words. */
  const known = new Map<string, GgufHeader | undefined>()
  const describe = async (fileName: string): Promise<GgufFile[]> => {
    const path = join(folder, fileName)
    const found = await stat(path).catch(() => undefined)
    if (!found?.isFile()) return []
    const key = `${path} ${String(found.size)} ${String(found.mtimeMs)}`
    if (!known.has(key)) known.set(key, await readGgufHeader(path))
    const header = known.get(key)
    if (header && !isChatModel(header)) return []
    const base = { name: fileName.slice(0, -EXTENSION.length), path, size: found.size, tools: abilitiesOf(header?.template).tools }
    return [header ? { ...base, header } : base]
  }
  return async () => {
    const names = (await readdir(folder).catch(() => [])).filter((n) => n.endsWith(EXTENSION) && !LATER_PART.test(n)).sort()
    return (await Promise.all(names.map(describe))).flat()
  }
}

/** The header of a file; undefined when it is no GGUF or is cut off inside its header. Never throws. */
async function readGgufHeader(path: string): Promise<GgufHeader | undefined> {
  const file = await open(path, 'r').catch(() => undefined)
  if (!file) return undefined
  try {
    const { size } = await file.stat()
    const read = async (at: number, length: number): Promise<Uint8Array> => {
      const buffer = new Uint8Array(length)
      const { bytesRead } = await file.read(buffer, 0, length, at)
      return buffer.subarray(0, bytesRead)
    }
    return await parseGgufHeader(read, size)
  } catch {
    return undefined
  } finally {
    await file.close()
  }
}

/** `read` returns up to `length` bytes from `at`. Rejects when the bytes are no GGUF header. */
export async function parseGgufHeader(read: (at: number, length: number) => Promise<Uint8Array>, size: number): Promise<GgufHeader> {
  const from = createCursor(read, size)
  if ((await from.text(4)) !== 'GGUF') throw new Error('not a GGUF file')
  const version = await from.number('u32')
  if (version < 2 || version > 3) throw new Error(`GGUF version ${String(version)}`)
  await from.number('u64')
  const pairs = await from.number('u64')
  const values = new Map<string, string | number>()
  for (let i = 0; i < pairs; i++) {
    const key = await from.text(await from.number('u64'))
    const value = await readValue(from, await from.number('u32'))
    if (value !== undefined) values.set(key, value)
  }
  const text = (key: string): string | undefined => {
    const value = values.get(key)
    return typeof value === 'string' ? value : undefined
  }
  const architecture = text('general.architecture') ?? 'unknown'
  const contextLength = values.get(`${architecture}.context_length`)
  const all = {
    architecture,
    type: text('general.type'),
    name: text('general.name'),
    contextLength: typeof contextLength === 'number' ? contextLength : undefined,
    template: text('tokenizer.chat_template')
  }
  return { architecture, ...Object.fromEntries(Object.entries(all).filter(([, v]) => v !== undefined)) }
}

const EXTENSION = '.gguf'
/** A model split over several files is opened by its first part. */
const LATER_PART = /-(?!00001)\d{5}-of-\d{5}\.gguf$/

const isChatModel = ({ type, architecture }: GgufHeader): boolean =>
  (type === undefined || type === 'model') && !/bert|^clip$|^t5encoder$/.test(architecture)

/** Bytes of the fixed-size types, by number. */
const SIZES = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8]
const TYPE = { u32: 4, i32: 5, string: 8, array: 9, u64: 10, i64: 11 }

/** A text or whole number; undefined for types that nobody asks for, which are skipped. */
async function readValue(from: Cursor, type: number): Promise<string | number | undefined> {
  if (type === TYPE.string) return from.text(await from.number('u64'))
  if (type === TYPE.u32 || type === TYPE.i32) return from.number('u32')
  if (type === TYPE.u64 || type === TYPE.i64) return from.number('u64')
  if (type !== TYPE.array) {
    from.skip(sizeOf(type))
    return undefined
  }
  const itemType = await from.number('u32')
  const count = await from.number('u64')
  if (itemType === TYPE.array) throw new Error('nested lists are not read')
  if (itemType !== TYPE.string) from.skip(sizeOf(itemType) * count)
  else for (let i = 0; i < count; i++) from.skip(await from.number('u64'))
  return undefined
}

function sizeOf(type: number): number {
  const size = SIZES[type]
  if (size === undefined || size === 0) throw new Error(`unknown type ${String(type)}`)
  return size
}

interface Cursor {
  number(type: 'u32' | 'u64'): Promise<number>
  text(length: number): Promise<string>
  skip(length: number): void
}

function createCursor(read: (at: number, length: number) => Promise<Uint8Array>, size: number): Cursor {
  const PIECE = 1 << 20
  let piece: Uint8Array = new Uint8Array()
  let start = 0
  let at = 0
  const take = async (length: number): Promise<Uint8Array> => {
    if (at + length > size) throw new Error('the file ends inside its header')
    if (at < start || at + length > start + piece.length) {
      piece = await read(at, Math.max(length, PIECE))
      start = at
      if (piece.length < length) throw new Error('the file ends inside its header')
    }
    const taken = piece.subarray(at - start, at - start + length)
    at += length
    return taken
  }
  return {
    async number(type) {
      const bytes = await take(type === 'u32' ? 4 : 8)
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      const value = type === 'u32' ? view.getUint32(0, true) : Number(view.getBigUint64(0, true))
      if (!Number.isSafeInteger(value)) throw new Error('a number is too large')
      return value
    },
    async text(length) {
      return new TextDecoder().decode(await take(length))
    },
    skip(length) {
      at += length
      if (at > size) throw new Error('the file ends inside its header')
    }
  }
}
