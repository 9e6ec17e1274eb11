import { stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { extname } from 'node:path'
import { z } from 'zod'
import type { Tool, ToolOutput } from '../../loop/tool'
import { pdfText } from '../web/pdf'
import type { FileMemory } from './memory'
import { locate, openToRead, type Place } from './place'
import { decode, looksBinary, type Text } from './text'
import { failed, MAX_FILE_BYTES } from './write'

const MAX_LINES = 2_000
const MAX_BYTES = 50_000
const MAX_IMAGE_BYTES = 5_000_000

const Arguments = z.strictObject({
  path: z.string().min(1),
  offset: z.number().int().min(1).optional().describe('First line, from 1'),
  limit: z.number().int().min(1).max(MAX_LINES).optional()
})
type Arguments = z.infer<typeof Arguments>

/** Text of a file from a line on (the head is kept, and the cut says how to get the rest, spec T7); pictures; the text of a PDF. */
export function readFileTool(memory: FileMemory): Tool<Arguments> {
  return {
    name: 'read_file',
    description: 'Read a text file (in parts), picture or PDF.',
    label: 'readonly',
    replay: 'safe',
    parameters: Arguments,
    timeLimitMs: 30_000,
    touches: ({ path }) => ({ reads: [path] }),
    async execute(args, scope) {
      const found = await locate(scope, args.path, 'read')
      if (!found.ok) return found.refusal
      const { place } = found
      const info = await stat(place.path).catch(() => undefined)
      if (!info) return { code: 'not_found', text: `There is no file ${place.name}. list_dir shows what there is.` }
      if (info.isDirectory()) return { code: 'is_directory', text: `${place.name} is a folder. Use list_dir for it.` }
      if (!info.isFile())
        return { code: 'not_a_file', text: `${place.name} is neither a file nor a folder (a device, socket or pipe). It was not opened.` }
      try {
        const file = await openToRead(place)
        try {
          const output = info.size > MAX_FILE_BYTES ? await readHuge(file, place, args, scope.signal) : await readWhole(file, place, args)
          if (output.bytes) memory.note(scope.sessionId, place.path, output.bytes)
          const { bytes, ...said } = output
          return place.inside ? said : { ...said, foreign: true }
        } finally {
          await file.close()
        }
      } catch (error) {
        return failed(place, error)
      }
    }
  }
}

/** `bytes`: of a text that was read, so that an edit can tell whether it changed since. */
type Output = ToolOutput & { readonly bytes?: Buffer }

async function readWhole(file: FileHandle, place: Place, args: Arguments): Promise<Output> {
  const bytes = await file.readFile()
  const picture = pictureType(bytes)
  if (picture) return readPicture(place, bytes, picture)
  if (bytes.subarray(0, 5).toString('latin1') === '%PDF-') {
    const pdf = await pdfText(bytes)
    return pdf.ok
      ? part(place, pdf.text.split('\n'), args, `PDF of ${String(pdf.pages)} pages`)
      : { code: pdf.code, text: `${place.name}: ${pdf.reason}` }
  }
  const text = decode(bytes)
  if (!text) return binary(place, bytes.length)
  if (bytes.length === 0) return { code: 'ok', text: '(empty file)', bytes }
  const lines = text.text.split('\n')
  if (lines.at(-1) === '') lines.pop() // what follows the last line break is no line
  return {
    ...part(
      place,
      lines.map((l) => (l.endsWith('\r') ? l.slice(0, -1) : l)),
      args,
      noteOf(text)
    ),
    bytes
  }
}

const noteOf = ({ encoding, bom, text }: Text): string =>
  [
    encoding === 'utf-8' ? '' : encoding,
    bom && encoding === 'utf-8' ? 'with a byte order mark' : '',
    text.includes('\r\n') ? 'CRLF line ends' : ''
  ]
    .filter((n) => n !== '')
    .join(', ')

const binary = (place: Place, size: number): ToolOutput => ({
  code: 'binary',
  text: `${place.name} is not a text file (${extname(place.path) || 'no extension'}, ${String(size)} bytes). It was not read.`
})

/** Lines from `offset` on within the limits. */
function part(place: Place, lines: readonly string[], { offset = 1, limit = MAX_LINES }: Arguments, note: string): ToolOutput {
  if (offset > Math.max(1, lines.length))
    return { code: 'out_of_range', text: `${place.name} has ${String(lines.length)} lines; line ${String(offset)} does not exist.` }
  const shown: string[] = []
  let bytes = 0
  for (const line of lines.slice(offset - 1, offset - 1 + limit)) {
    const short =
      line.length > MAX_BYTES
        ? `${line.slice(0, MAX_BYTES).toWellFormed()} [line cut: ${String(line.length - MAX_BYTES)} more characters]`
        : line
    bytes += Buffer.byteLength(short) + 1
    if (bytes > MAX_BYTES && shown.length > 0) break
    shown.push(short)
  }
  const next = offset + shown.length
  const more = next <= lines.length ? [`[there is more: ${String(lines.length)} lines in all; read on with offset ${String(next)}]`] : []
  return { code: 'ok', text: [...(note === '' ? [] : [`[${note}]`]), ...shown, ...more].join('\n') }
}

/** A file that is too large to hold: line by line, up to the part that was asked for. */
async function readHuge(
  file: FileHandle,
  place: Place,
  { offset = 1, limit = MAX_LINES }: Arguments,
  signal: AbortSignal
): Promise<Output> {
  const lines: string[] = []
  let number = 0
  let bytes = 0
  for await (const line of file.readLines({ encoding: 'utf8', signal, autoClose: false })) {
    number++
    if (number === 1 && looksBinary(Buffer.from(line))) return binary(place, (await file.stat()).size)
    if (number < offset) continue
    bytes += line.length + 1
    if (lines.length > 0 && (lines.length >= limit || bytes > MAX_BYTES)) break
    lines.push(line.length > MAX_BYTES ? `${line.slice(0, MAX_BYTES).toWellFormed()} [line cut]` : line)
  }
  if (lines.length === 0)
    return { code: 'out_of_range', text: `${place.name} has ${String(number)} lines; line ${String(offset)} does not exist.` }
  return { code: 'ok', text: `${lines.join('\n')}\n[there may be more: read on with offset ${String(offset + lines.length)}]` }
}

function readPicture(place: Place, bytes: Buffer, mime: string): ToolOutput {
  if (bytes.length > MAX_IMAGE_BYTES)
    return {
      code: 'too_large',
      text: `${place.name} is a picture of ${String(bytes.length)} bytes; up to ${String(MAX_IMAGE_BYTES)} can be looked at.`
    }
  const images = [{ type: 'image' as const, mime, data: bytes.toString('base64') }]
  return { code: 'ok', text: `${place.name}: ${mime}, ${String(bytes.length)} bytes.`, images }
}

/** By its first bytes, as a name may lie. */
export function pictureType(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'image/gif'
  if (head.startsWith('RIFF') && head.endsWith('WEBP')) return 'image/webp'
  return undefined
}
