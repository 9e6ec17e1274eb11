import { stat } from 'node:fs/promises'
import { sep } from 'node:path'
import { z } from 'zod'
import type { Tool } from '../../loop/tool'
import { locate } from '../files/place'
import { inertName } from './names'
import { runRipgrep } from './ripgrep'

const MAX_SHOWN = 300
/** Names that are looked at to find the newest. */
const MOST_FOUND = 20_000

const Arguments = z.strictObject({
  pattern: z.string().min(1).describe('Glob: *.ts, src/**/test*'),
  path: z.string().min(1).default('.'),
  all: z.boolean().optional().describe('Also ignored and hidden')
})

/** Files by name, the newest first; ignore files are respected. */
export const findFilesTool: Tool<z.infer<typeof Arguments>> = {
  name: 'find_files',
  description: 'Find files by name.',
  label: 'readonly',
  replay: 'safe',
  parameters: Arguments,
  timeLimitMs: 60_000,
  touches: ({ path }) => ({ reads: [path] }),
  async execute({ pattern, path, all }, scope) {
    const found = await locate(scope, path, 'read')
    if (!found.ok) return found.refusal
    const { place } = found
    const folder = await stat(place.path).catch(() => undefined)
    if (!folder?.isDirectory()) return { code: 'not_found', text: `${place.name} is not a folder.` }
    const names: string[] = []
    const flags = [
      '--files',
      '--null',
      '--glob',
      pattern,
      '--glob',
      '!.git/',
      ...(all ? ['--no-ignore', '--hidden'] : ['--no-require-git'])
    ]
    const ended = await runRipgrep([...flags, '--', '.'], { cwd: place.path, separator: '\0', signal: scope.signal }, (piece) => {
      names.push(piece.startsWith(`.${sep}`) ? piece.slice(2) : piece)
      return names.length < MOST_FOUND
    })
    if (scope.signal.aborted) return { code: 'aborted', text: 'The search was stopped.' }
    if (!ended.ok) return { code: 'bad_pattern', text: `The search failed: ${ended.reason}` }
    if (names.length === 0)
      return {
        code: 'ok',
        text: `No file of ${place.name} matches ${pattern}.${all ? '' : ' Ignored and hidden files were not looked at.'}`
      }
    const dated = await Promise.all(
      names.map(async (name) => ({
        name,
        at: names.length > 2_000 ? 0 : ((await stat(`${place.path}${sep}${name}`).catch(() => undefined))?.mtimeMs ?? 0)
      }))
    )
    dated.sort((a, b) => b.at - a.at || (a.name < b.name ? -1 : 1))
    const prefix = place.inside && place.name !== '.' ? `${place.name}/` : place.inside ? '' : `${place.path}/`
    const lines = dated.slice(0, MAX_SHOWN).map(({ name }) => inertName(prefix + name.split(sep).join('/')))
    const left = names.length - lines.length
    if (left > 0) lines.push(`[${ended.stopped ? 'at least ' : ''}${String(left)} more are not shown: narrow the pattern or the path]`)
    return { code: 'ok', text: lines.join('\n'), ...(!place.inside && { foreign: true }) }
  }
}
