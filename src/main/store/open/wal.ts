// What a write-ahead log says of itself (sqlite.org/fileformat2, section 4). SQLite drops a broken end without a word, which is right, but the person
// should know that something newer existed.
import { readFileSync } from 'node:fs'

const HEADER = 32
const FRAME_HEADER = 24
const MAGIC = 0x377f0682

/**
 * Whether whole frames of the log's present generation are broken: they reached the disk in part only, as after a power cut. Remains of an older
 * generation at the end are normal and do not count. False for a file that is no log, or none at all.
 */
export function hasTornTail(file: string): boolean {
  let log: Buffer
  try {
    log = readFileSync(file)
  } catch {
    return false
  }
  if (log.length < HEADER || (log.readUInt32BE(0) & ~1) >>> 0 !== MAGIC) return false
  const bigEndian = (log.readUInt32BE(0) & 1) === 1
  const pageSize = log.readUInt32BE(8)
  const salt = log.subarray(16, 24)
  const size = FRAME_HEADER + pageSize
  let sum = checksum(log.subarray(0, 24), [0, 0], bigEndian)
  let at = HEADER
  for (; at + size <= log.length; at += size) {
    if (!log.subarray(at + 8, at + 16).equals(salt)) break
    sum = checksum(log.subarray(at, at + 8), sum, bigEndian)
    sum = checksum(log.subarray(at + FRAME_HEADER, at + size), sum, bigEndian)
    if (sum[0] !== log.readUInt32BE(at + 16) || sum[1] !== log.readUInt32BE(at + 20)) return true
  }
  // SQLite never writes empty frames: zeros here were frames once. A piece of one at the very end was being written when the program was killed, and
  // had not been promised to anybody
  const rest = log.subarray(at)
  return rest.length >= size && rest.subarray(0, FRAME_HEADER).every((b) => b === 0)
}

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
