import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { z } from 'zod'
import type { Tool, ToolOutput } from '../loop/tool'
import { locate } from './workspace'

const MAX_LINES = 2_000
const MAX_BYTES = 50_000

const Arguments = z.strictObject({
  path: z.string().min(1).describe('Path relative to the workspace'),
  offset: z.number().int().min(1).optional(),
  limit: z.number().int().min(1).max(MAX_LINES).optional()
})

/** Text of a file from a line on; the head is kept, and the cut says how to get the rest (spec T7). */
export const readFileTool: Tool<z.infer<typeof Arguments>> = {
  name: 'read_file',
  description: 'Read a text file in the workspace. Long files come in parts: use offset (first line, from 1) and limit (lines).',
  label: 'readonly',
  replay: 'safe',
  parameters: Arguments,
  timeLimitMs: 30_000,
  async execute({ path, offset = 1, limit = MAX_LINES }, { workspace, signal }) {
    const place = await locate(workspace, path)
    if (!place.ok) return { code: place.code, text: place.reason }
    const info = await stat(place.path).catch(() => undefined)
    if (!info) return { code: 'not_found', text: `There is no file ${path}. list_dir shows what there is.` }
    if (info.isDirectory()) return { code: 'is_directory', text: `${path} is a folder. Use list_dir for it.` }
    if (!info.isFile())
      return { code: 'not_a_file', text: `${path} is neither a file nor a folder (a device, socket or pipe). It was not opened.` }
    return readLines(place.path, path, offset, limit, signal)
  }
}

async function readLines(file: string, path: string, offset: number, limit: number, signal: AbortSignal): Promise<ToolOutput> {
  const lines: string[] = []
  let number = 0
  let bytes = 0
  let rest = ''
  let first = true
  const stream = createReadStream(file, { signal, encoding: 'utf8' })
  /** False when the part that was asked for is complete. */
  const take = (line: string): boolean => {
    number++
    if (number < offset) return true
    bytes += Buffer.byteLength(line) + 1
    if (lines.length >= limit || (bytes > MAX_BYTES && lines.length > 0)) return false
    lines.push(
      line.length > MAX_BYTES ? `${line.slice(0, MAX_BYTES)} [line cut: ${String(line.length - MAX_BYTES)} more characters]` : line
    )
    return bytes <= MAX_BYTES
  }
  for await (const chunk of stream as AsyncIterable<string>) {
    if (first && chunk.includes('\0')) return { code: 'binary', text: `${path} is not a text file. It was not read.` }
    first = false
    const parts = (rest + chunk).split('\n')
    rest = parts.pop() ?? ''
    for (const line of parts) if (!take(line)) return { code: 'ok', text: part(lines, offset, true) }
    // one endless line: no need to hold more of it than could be shown
    if (rest.length > 4 * MAX_BYTES && number + 1 >= offset) {
      take(rest)
      return { code: 'ok', text: part(lines, offset, true) }
    }
  }
  const cut = rest !== '' && !take(rest) && number >= offset + lines.length
  if (lines.length === 0) {
    return number === 0
      ? { code: 'ok', text: '(empty file)' }
      : { code: 'out_of_range', text: `${path} has ${String(number)} lines; line ${String(offset)} does not exist.` }
  }
  return { code: 'ok', text: part(lines, offset, cut) }
}

const part = (lines: readonly string[], offset: number, more: boolean): string =>
  more ? `${lines.join('\n')}\n[there is more: read on with offset ${String(offset + lines.length)}]` : lines.join('\n')
