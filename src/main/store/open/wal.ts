// What a database and its write-ahead log say of themselves (sqlite.org/fileformat2, sections 1.3 and 4), read without SQLite, so that nothing is
// touched. SQLite drops a broken end of a log without a word, which is right, but the person should know that something newer existed.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

const HEADER = 32
const FRAME_HEADER = 24
const MAGIC = 0x377f0682
/** Where a database keeps `user_version`, in its first page. */
const VERSION_AT = 60
const DATABASE_MAGIC = 'SQLite format 3\0'

interface Wal {
  /** Frames of the present generation are broken: their page or header was never wholly written, as after a power cut. */
  readonly torn: boolean
  /** The first page of the database as the newest commit of the log has it. */
  readonly firstPage: Buffer | undefined
}

/** Remains of an older generation, and of a transaction that was taken back, are normal and do not count. False without a log. */
export const hasTornTail = (file: string): boolean => withFile(file, (fd, size) => readWal(fd, size).torn) ?? false

/** `user_version` of a database, as its log has it where there is one; undefined for a file that is no database, or none at all. */
export function storedVersion(file: string): number | undefined {
  const head = withFile(file, (fd) => readAt(fd, 0, 100))
  if (head?.length !== 100 || head.toString('latin1', 0, 16) !== DATABASE_MAGIC) return undefined
  const newer = withFile(`${file}-wal`, (fd, size) => readWal(fd, size).firstPage)
  return (newer ?? head).readInt32BE(VERSION_AT)
}

function withFile<T>(file: string, read: (fd: number, size: number) => T): T | undefined {
  let fd: number
  try {
    fd = openSync(file, 'r')
  } catch {
    return undefined // there is none, or we may not read it: SQLite will say so
  }
  try {
    return read(fd, fstatSync(fd).size)
  } finally {
    closeSync(fd)
  }
}

function readAt(fd: number, at: number, length: number): Buffer {
  const buffer = Buffer.alloc(length)
  return buffer.subarray(0, readSync(fd, buffer, 0, length, at))
}

function readWal(fd: number, length: number): Wal {
  const head = readAt(fd, 0, HEADER)
  if (head.length < HEADER) return { torn: false, firstPage: undefined }
  const bigEndian = (head.readUInt32BE(0) & 1) === 1
  const pageSize = head.readUInt32BE(8)
  let sum = checksum(head.subarray(0, 24), [0, 0], bigEndian)
  const isHeader = (head.readUInt32BE(0) & ~1) >>> 0 === MAGIC && isSum(sum, head, 24)
  // a log with frames and no header: the header was lost, as SQLite writes it first
  if (!isHeader) return { torn: length > HEADER, firstPage: undefined }
  const salt = head.subarray(16, 24)
  const size = FRAME_HEADER + pageSize
  let firstPage: Buffer | undefined
  let pending: Buffer | undefined
  let at = HEADER
  for (; at + size <= length; at += size) {
    const frame = readAt(fd, at, size)
    if (!frame.subarray(8, 16).equals(salt)) break
    sum = checksum(frame.subarray(0, 8), sum, bigEndian)
    sum = checksum(frame.subarray(FRAME_HEADER), sum, bigEndian)
    if (!isSum(sum, frame, 16)) break
    if (frame.readUInt32BE(0) === 1) pending = frame.subarray(FRAME_HEADER)
    if (isCommit(frame) && pending) firstPage = pending
  }
  return { torn: isTorn(fd, at, length, size, salt), firstPage }
}

/**
 * Whether what follows the last good frame was meant to count. It was when the header of a frame is empty, as SQLite never writes that, or
 * when a commit of this generation is among the frames: a transaction that was taken back leaves frames too, but none that commits.
 */
function isTorn(fd: number, from: number, length: number, size: number, salt: Buffer): boolean {
  for (let at = from; at < length; at += size) {
    const frame = readAt(fd, at, FRAME_HEADER)
    if (frame.every((byte) => byte === 0)) return true
    const isOurs = frame.subarray(8, 16).equals(salt)
    if (!isOurs && frame.length >= 16) return false // from here on it is an older generation
    if (at + size > length) return false // a piece of a frame: the program was killed while it wrote, and had promised nothing of it yet
    if (isCommit(frame)) return true
  }
  return false
}

/** The last frame of a transaction names the size of the database. */
const isCommit = (frame: Buffer): boolean => frame.readUInt32BE(4) !== 0

const isSum = ([a, b]: readonly [number, number], buffer: Buffer, at: number): boolean =>
  a === buffer.readUInt32BE(at) && b === buffer.readUInt32BE(at + 4)

function checksum(data: Buffer, [s0, s1]: readonly [number, number], bigEndian: boolean): [number, number] {
  let a = s0
  let b = s1
  const word = (at: number): number => (bigEndian ? data.readUInt32BE(at) : data.readUInt32LE(at))
  for (let at = 0; at + 8 <= data.length; at += 8) {
    a = (a + word(at) + b) >>> 0
    b = (b + word(at + 4) + a) >>> 0
  }
  return [a, b]
}
