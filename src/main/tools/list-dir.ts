import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Tool } from '../loop/tool'
import { locate } from './workspace'

const MAX_ENTRIES = 500

const Arguments = z.strictObject({ path: z.string().min(1).default('.').describe('Path relative to the workspace') })

/** Names in a folder, folders first, with sizes. */
export const listDirTool: Tool<z.infer<typeof Arguments>> = {
  name: 'list_dir',
  description: 'List a folder in the workspace. Folders end with a slash.',
  label: 'readonly',
  replay: 'safe',
  parameters: Arguments,
  timeLimitMs: 30_000,
  async execute({ path }, { workspace, signal, progress }) {
    const place = await locate(workspace, path)
    if (!place.ok) return { code: place.code, text: place.reason }
    const info = await stat(place.path).catch(() => undefined)
    if (!info) return { code: 'not_found', text: `There is no folder ${path}.` }
    if (!info.isDirectory()) return { code: 'not_a_folder', text: `${path} is a file. Use read_file for it.` }
    const found = await readdir(place.path, { withFileTypes: true })
    found.sort((a, b) => Number(b.isDirectory()) - Number(a.isDirectory()) || (a.name < b.name ? -1 : 1))
    const shown = found.slice(0, MAX_ENTRIES)
    const lines: string[] = []
    for (const [n, entry] of shown.entries()) {
      if (signal.aborted) break
      progress({ done: n + 1, total: shown.length })
      lines.push(await lineOf(place.path, entry.name, entry.isDirectory()))
    }
    if (found.length > shown.length) lines.push(`[${String(found.length - shown.length)} more entries are not shown]`)
    return { code: 'ok', text: lines.length > 0 ? lines.join('\n') : '(empty folder)' }
  }
}

async function lineOf(folder: string, name: string, isFolder: boolean): Promise<string> {
  const safe = JSON.stringify(name).slice(1, -1) // a name may hold line breaks or terminal codes
  if (isFolder) return `${safe}/`
  const info = await stat(join(folder, name)).catch(() => undefined)
  return info ? `${safe}  ${String(info.size)} bytes` : `${safe}  (cannot be read)`
}
