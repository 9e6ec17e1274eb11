// Ids of everything that is stored: unique without asking anyone, and in the order in which they were made.
import { randomBytes } from 'node:crypto'

let last = 0
let pool = Buffer.alloc(0)
let used = 0

/** Eight random bytes; the system is asked for many at once, as each question costs more than the bytes. */
function random(): Buffer {
  if (used + 8 > pool.length) {
    pool = randomBytes(2_048)
    used = 0
  }
  return pool.subarray(used, (used += 8))
}

/** A UUID of version 7 (RFC 9562 §5.7): ids sort by the time they were made, also within one millisecond of this process. */
export function newId(): string {
  last = Math.max(Date.now() * 4096, last + 1) // 48 bits of milliseconds and 12 of a counter, both within a double's 53 bits until 2039
  const time = Math.floor(last / 4096)
    .toString(16)
    .padStart(12, '0')
  const count = (last % 4096).toString(16).padStart(3, '0')
  const tail = random()
  tail.writeUInt8((tail.readUInt8(0) & 0x3f) | 0x80, 0)
  const rest = tail.toString('hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${rest.slice(0, 4)}-${rest.slice(4)}`
}
