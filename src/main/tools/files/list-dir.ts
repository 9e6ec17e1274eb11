import { lstat, opendir, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Tool } from '../../loop/tool'
import { inertName } from '../search/names'
import { locate } from './place'
import { failed } from './write'

const MAX_ENTRIES = 500
/** Names that are read of one folder; one with more is told by its beginning. */
const MOST_READ = 100_000

const Arguments = z.strictObject({ path: z.string().min(1).default('.') })

/** Names in a folder, folders first, with sizes. */
export const listDirTool: Tool<z.infer<typeof Arguments>> = {
  name: 'list_dir',
  description: 'List a folder.',
  label: 'readonly',
  replay: 'safe',
  parameters: Arguments,
  timeLimitMs: 30_000,
  touches: ({ path }) => ({ reads: [path] }),
  async execute({ path }, scope) {
    const found = await locate(scope, path, 'read')
    if (!found.ok) return found.refusal
    const { place } = found
    const info = await stat(place.path).catch(() => undefined)
    if (!info) return { code: 'not_found', text: `There is no folder ${place.name}.` }
    if (!info.isDirectory()) return { code: 'not_a_folder', text: `${place.name} is a file. Use read_file for it.` }
    try {
      const names: { name: string; isFolder: boolean }[] = []
      let more = false
      for await (const entry of await opendir(place.path, { bufferSize: 512 })) {
        if (scope.signal.aborted) return { code: 'aborted', text: 'The call was stopped.' }
        if (names.length === MOST_READ) {
          more = true
          break
        }
        names.push({ name: entry.name, isFolder: entry.isDirectory() })
      }
      names.sort((a, b) => Number(b.isFolder) - Number(a.isFolder) || (a.name < b.name ? -1 : 1))
      const shown = names.slice(0, MAX_ENTRIES)
      const lines = await Promise.all(shown.map(({ name, isFolder }) => lineOf(place.path, name, isFolder)))
      scope.progress({ done: shown.length, total: shown.length })
      const left = names.length - shown.length
      if (left > 0) lines.push(`[${more ? 'at least ' : ''}${String(left)} more are not shown: find_files looks for names]`)
      return { code: 'ok', text: lines.length > 0 ? lines.join('\n') : '(empty folder)' }
    } catch (error) {
      return failed(place, error)
    }
  }
}

async function lineOf(folder: string, name: string, isFolder: boolean): Promise<string> {
  const safe = inertName(name)
  if (isFolder) return `${safe}/`
  const info = await lstat(join(folder, name)).catch(() => undefined)
  if (!info) return `${safe}  (cannot be read)`
  if (info.isSymbolicLink()) return `${safe} -> ${inertName(await readlink(join(folder, name)).catch(() => '?'))}`
  return info.isFile() ? `${safe}  ${String(info.size)} bytes` : `${safe}  (a device, socket or pipe)`
}
