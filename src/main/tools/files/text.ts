// Bytes as text and back, without losing what an edit does not touch: encoding, byte order mark, line ends.

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'gb18030' | 'windows-1252'
export interface Text {
  readonly text: string
  readonly encoding: Encoding
  /** Whether the file began with a byte order mark, which `text` leaves out. */
  readonly bom: boolean
}

/** Undefined: it is not text. Without a mark it is UTF-8 when it can be, else the likeliest of the old encodings. */
export function decode(bytes: Buffer): Text | undefined {
  if (bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
    return { text: bytes.toString('utf8', 3), encoding: 'utf-8', bom: true }
  if (bytes.length >= 2 && bytes[0] === 0xff && bytes[1] === 0xfe) return wide(bytes, 'utf-16le')
  if (bytes.length >= 2 && bytes[0] === 0xfe && bytes[1] === 0xff) return wide(bytes, 'utf-16be')
  if (looksBinary(bytes)) return undefined
  const text = strict(bytes, 'utf-8')
  if (text !== undefined) return { text, encoding: 'utf-8', bom: false }
  const chinese = strict(bytes, 'gb18030')
  if (chinese !== undefined && /\p{Script=Han}{2}/u.test(chinese)) return { text: chinese, encoding: 'gb18030', bom: false }
  return { text: new TextDecoder('windows-1252').decode(bytes), encoding: 'windows-1252', bom: false }
}

/** The bytes of a text in the encoding it came in. Undefined: the encoding cannot be written, or has no such characters. */
export function encode(text: string, { encoding, bom }: Pick<Text, 'encoding' | 'bom'>): Buffer | undefined {
  switch (encoding) {
    case 'utf-8':
      return Buffer.from(bom ? `\ufeff${text}` : text, 'utf8')
    case 'utf-16le':
      return Buffer.from(`\ufeff${text}`, 'utf16le')
    case 'utf-16be':
      return Buffer.from(`\ufeff${text}`, 'utf16le').swap16()
    case 'windows-1252':
      return encodeWestern(text)
    case 'gb18030':
      return undefined
  }
}

/** Whether bytes are no text: a NUL, or more than a tenth of control characters, at their beginning. */
export function looksBinary(bytes: Uint8Array): boolean {
  const head = bytes.subarray(0, 8_192)
  let odd = 0
  for (const byte of head) {
    if (byte === 0) return true
    if (byte < 9 || (byte > 13 && byte < 32 && byte !== 27)) odd++
  }
  return odd > head.length / 10
}

function wide(bytes: Buffer, encoding: 'utf-16le' | 'utf-16be'): Text {
  return { text: new TextDecoder(encoding).decode(bytes), encoding, bom: true }
}

function strict(bytes: Buffer, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

let western: Map<string, number> | undefined
function encodeWestern(text: string): Buffer | undefined {
  western ??= new Map(Array.from({ length: 256 }, (_, i) => [new TextDecoder('windows-1252').decode(Uint8Array.of(i)), i]))
  const bytes = Buffer.alloc(text.length)
  for (let i = 0; i < text.length; i++) {
    const byte = western.get(text.charAt(i))
    if (byte === undefined) return undefined
    bytes[i] = byte
  }
  return bytes
}
