import { stat } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import { z } from 'zod'
import type { Tool } from '../../loop/tool'
import { isObject, parseJson } from '../../../shared/json'
import { locate } from '../files/place'
import { inertName } from './names'
import { runRipgrep } from './ripgrep'

const MAX_MATCHES = 200
const MAX_BYTES = 30_000
const MAX_LINE = 400

const Arguments = z.strictObject({
  pattern: z.string().min(1).describe('Regular expression'),
  path: z.string().min(1).default('.'),
  glob: z.string().min(1).optional(),
  literal: z.boolean().optional(),
  ignore_case: z.boolean().optional(),
  context: z.number().int().min(0).max(10).optional()
})

/** Lines that match, with file and number; ignore files are respected. `isSecret`: real paths of files that are passed over unless the call was given them. */
export function searchTextTool(isSecret: (path: string) => boolean): Tool<z.infer<typeof Arguments>> {
  return {
    name: 'search_text',
    description: 'Search the text of files.',
    label: 'readonly',
    replay: 'safe',
    parameters: Arguments,
    timeLimitMs: 60_000,
    touches: ({ path }) => ({ reads: [path] }),
    async execute({ pattern, path, glob, literal, ignore_case: ignoreCase, context = 0 }, scope) {
      const found = await locate(scope, path, 'read')
      if (!found.ok) return found.refusal
      const { place } = found
      const info = await stat(place.path).catch(() => undefined)
      if (!info) return { code: 'not_found', text: `There is nothing at ${place.name}.` }
      const isFolder = info.isDirectory()
      const cwd = isFolder ? place.path : dirname(place.path)
      const folder = isFolder ? (place.name === '.' ? '' : `${place.name}/`) : `${dirname(place.name)}/`.replace(/^\.\//, '')
      const flags = [
        '--json',
        '--no-require-git',
        '--sort=path',
        '--max-filesize=20M',
        `--context=${String(context)}`,
        ...(literal ? ['--fixed-strings'] : []),
        ...(ignoreCase ? ['--ignore-case'] : []),
        ...(glob === undefined ? [] : ['--glob', glob]),
        `--regexp=${pattern}`
      ]
      const lines: string[] = []
      let matches = 0
      let files = 0
      let bytes = 0
      let file = ''
      let shown = ''
      let secret = false
      let secrets = 0
      const show = (line: string): void => {
        bytes += line.length + 1
        lines.push(line)
      }
      const take = (piece: string): boolean => {
        const said = parseJson(piece)
        if (!isObject(said) || !isObject(said['data'])) return true
        const { type, data } = said as { type: string; data: Record<string, unknown> }
        if (type !== 'match' && type !== 'context') return true
        const name =
          folder +
          textOf(data['path'])
            .replace(/^\.[\\/]/, '')
            .split(sep)
            .join('/')
        if (name !== file) {
          file = name
          const real = join(cwd, textOf(data['path']))
          secret = isSecret(real) && !scope.access.reads.includes(real)
          if (secret) secrets++
          else files++
        }
        if (secret) return true
        if (file !== shown) {
          shown = file
          show(`${lines.length > 0 ? '\n' : ''}${inertName(name)}`)
        }
        if (type === 'match') matches++
        show(`${String(data['line_number'])}${type === 'match' ? ':' : '-'} ${shortened(textOf(data['lines']))}`)
        return matches < MAX_MATCHES && bytes < MAX_BYTES
      }
      const ended = await runRipgrep(
        [...flags, '--', isFolder ? '.' : basename(place.path)],
        { cwd, separator: '\n', signal: scope.signal },
        take
      )
      if (scope.signal.aborted) return { code: 'aborted', text: 'The search was stopped.' }
      if (!ended.ok && matches === 0)
        return {
          code: 'bad_pattern',
          text: `The search failed: ${ended.reason}${literal ? '' : '\nSet "literal" to search for the text as it is.'}`
        }
      const left =
        secrets === 0 ? '' : `\n[${String(secrets)} files that hold secrets match as well: they are not shown. read_file asks the person.]`
      if (matches === 0) return { code: 'ok', text: `Nothing in ${place.name} matches. Ignored and hidden files were not searched.${left}` }
      const more =
        ended.ok && ended.stopped
          ? `\n[${String(matches)} matches in ${String(files)} files so far, and there are more: narrow the pattern, the path or the glob]`
          : ''
      return { code: 'ok', text: lines.join('\n') + left + more, ...(!place.inside && { foreign: true }) }
    }
  }
}

/** ripgrep gives text, or base64 where it is no UTF-8. */
function textOf(value: unknown): string {
  if (!isObject(value)) return ''
  if (typeof value['text'] === 'string') return value['text']
  return typeof value['bytes'] === 'string' ? Buffer.from(value['bytes'], 'base64').toString('latin1') : ''
}

function shortened(line: string): string {
  const text = line.replace(/\r?\n$/, '')
  return text.length <= MAX_LINE ? text : `${text.slice(0, MAX_LINE).toWellFormed()} [… ${String(text.length - MAX_LINE)} more characters]`
}
