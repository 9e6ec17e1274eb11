import { createHash, randomBytes } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { formatPatch, OMIT_HEADERS, structuredPatch } from 'diff'
import { z } from 'zod'
import type { Tool, ToolOutput } from '../loop/tool'
import { locate, type Place, shorten } from './workspace'

const MAX_BYTES = 2_000_000

const Arguments = z.strictObject({
  path: z.string().min(1).describe('Path relative to the workspace'),
  content: z.string().max(MAX_BYTES).describe('The whole new text of the file')
})

/** Creates or replaces a text file, whole or not at all. The person sees the exact path and difference first (spec G3). */
export const writeFileTool: Tool<z.infer<typeof Arguments>> = {
  name: 'write_file',
  description: 'Create a text file in the workspace or replace all of it. The person is asked first.',
  label: 'write',
  replay: 'never',
  parameters: Arguments,
  timeLimitMs: 30_000,

  async preview({ path, content }, { workspace }) {
    const place = await locate(workspace, path)
    if (!place.ok) return { refuse: { code: place.code, text: place.reason } }
    const info = await stat(place.path).catch(() => undefined)
    if (info && !info.isFile()) return { refuse: notAFile(path) } // a folder, or a pipe that could never be read to its end
    const before = await textOf(place)
    const diff = formatPatch(structuredPatch('', '', before ?? '', content, '', '', { context: 3 }), OMIT_HEADERS).trimEnd()
    const count = (sign: string): number => diff.split('\n').filter((line) => line.startsWith(sign)).length
    return {
      preview: {
        kind: 'file',
        path: place.path,
        change: before === undefined ? 'create' : 'replace',
        diff,
        added: count('+'),
        removed: count('-')
      },
      basis: basisOf(place, before)
    }
  },

  async execute({ path, content }, { workspace, basis, signal }): Promise<ToolOutput> {
    const place = await locate(workspace, path)
    if (!place.ok) return { code: place.code, text: place.reason }
    const info = await stat(place.path).catch(() => undefined)
    if (info && !info.isFile()) return notAFile(path)
    const before = await textOf(place)
    if (basis !== undefined && basis !== basisOf(place, before)) {
      return {
        code: 'changed_since_shown',
        text: `${path} changed after the person was shown the difference. Nothing was written. Read it again.`
      }
    }
    await mkdir(dirname(place.path), { recursive: true })
    const again = await locate(workspace, path) // a folder that was made or swapped meanwhile may lead elsewhere
    if (!again.ok || again.path !== place.path)
      return { code: 'outside_workspace', text: `${path} does not lead where it led. Nothing was written.` }
    if (signal.aborted) return { code: 'aborted', text: 'The run was stopped. Nothing was written.' }
    await replaceFile(place.path, content, info?.mode)
    const name = await shorten(workspace, place.path)
    return { code: 'ok', text: `${info ? 'Replaced' : 'Created'} ${name} (${String(Buffer.byteLength(content))} bytes).` }
  }
}

const notAFile = (path: string): ToolOutput => ({ code: 'not_a_file', text: `${path} is not an ordinary file. Nothing was written.` })

/** All of the new content or all of the old, whenever the process ends: a new file beside it, flushed, then renamed over it. */
async function replaceFile(path: string, content: string, mode = 0o644): Promise<void> {
  const fresh = join(dirname(path), `.tau-${randomBytes(6).toString('hex')}`)
  try {
    const file = await open(fresh, 'wx', mode & 0o777)
    try {
      await file.writeFile(content)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(fresh, path)
  } catch (error) {
    await rm(fresh, { force: true })
    throw error
  }
}

/** Undefined when there is no such file. */
async function textOf(place: Extract<Place, { ok: true }>): Promise<string | undefined> {
  if (!place.exists) return undefined
  return readFile(place.path, 'utf8').catch(() => undefined)
}

const basisOf = (place: Extract<Place, { ok: true }>, text: string | undefined): string =>
  `${place.path}\0${text === undefined ? 'absent' : createHash('sha256').update(text).digest('hex')}`
