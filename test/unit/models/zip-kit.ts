// Writes small zip archives for tests.
import { crc32, deflateRawSync } from 'node:zlib'

export interface Member {
  readonly name: string
  readonly data: Uint8Array
  readonly stored?: boolean
}

/** `comment`: text behind the central directory. */
export function makeZip(members: readonly Member[], comment = ''): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const { name, data, stored } of members) {
    const packed = stored ? Buffer.from(data) : deflateRawSync(data)
    const text = Buffer.from(name)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(stored ? 0 : 8, 4)
    common.writeUInt32LE(crc32(data), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(data.length, 18)
    common.writeUInt16LE(text.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, text, packed])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(at, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, tail, text]))
    parts.push(local)
    at += local.length
  }
  const list = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(members.length, 4)
  end.writeUInt16LE(members.length, 6)
  end.writeUInt32LE(list.length, 8)
  end.writeUInt32LE(at, 12)
  end.writeUInt16LE(Buffer.byteLength(comment), 16)
  return Buffer.concat([...parts, list, Buffer.from('PK\x05\x06', 'latin1'), end, Buffer.from(comment)])
}
