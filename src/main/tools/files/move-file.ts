import { cp, lstat, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { z } from 'zod'
import type { Tool, ToolOutput, ToolScope } from '../../loop/tool'
import type { FileMemory } from './memory'
import { locate, type Place } from './place'
import { failed } from './write'

const Arguments = z.strictObject({ from: z.string().min(1), to: z.string().min(1) })
type Arguments = z.infer<typeof Arguments>
type Ends = { readonly ok: true; readonly from: Place; readonly to: Place } | { readonly ok: false; readonly refusal: ToolOutput }

/** Moves or renames a file or a folder; never over something that is there. */
export function moveFileTool(memory: FileMemory): Tool<Arguments> {
  return {
    name: 'move_file',
    description: 'Move or rename a file or folder.',
    label: 'write',
    replay: 'never',
    parameters: Arguments,
    timeLimitMs: 120_000,
    touches: ({ from, to }) => ({ writes: [from, to] }),

    async preview(args, scope) {
      const ends = await endsOf(args, scope)
      if (!ends.ok) return { refuse: ends.refusal }
      const { from, to } = ends
      return {
        preview: { kind: 'file', path: from.path, to: to.path, change: 'move', diff: '', added: 0, removed: 0 },
        basis: await stateOf(ends)
      }
    },

    async execute(args, scope) {
      const ends = await endsOf(args, scope)
      if (!ends.ok) return ends.refusal
      const { from, to } = ends
      if (scope.basis !== undefined && scope.basis !== (await stateOf(ends)))
        return { code: 'changed_since_shown', text: `${from.name} changed after the person was asked. Nothing was moved.` }
      try {
        await mkdir(dirname(to.path), { recursive: true })
        await moveTo(from.path, to.path)
      } catch (error) {
        return failed(from, error)
      }
      memory.forget(scope.sessionId, from.path)
      return { code: 'ok', text: `Moved ${from.name} to ${to.name}.` }
    }
  }
}

async function endsOf({ from, to }: Arguments, scope: ToolScope): Promise<Ends> {
  const refuse = (code: string, text: string): Ends => ({ ok: false, refusal: { code, text: `${text} Nothing was moved.` } })
  const start = await locate(scope, from, 'write', true)
  if (!start.ok) return start
  if (!start.place.exists) return refuse('not_found', `There is nothing at ${start.place.name}.`)
  if (start.place.name === '.') return refuse('is_workspace', 'The workspace itself cannot be moved.')
  const asked = await locate(scope, to, 'write', true)
  if (!asked.ok) return asked
  const folder = asked.place.exists && (await lstat(asked.place.path)).isDirectory()
  const end = folder ? await locate(scope, join(to, start.place.path.split(sep).at(-1) ?? ''), 'write', true) : asked
  if (!end.ok) return end
  if (end.place.exists) return refuse('exists', `${end.place.name} is there already. Choose another name, or delete it first.`)
  if (end.place.path.startsWith(start.place.path + sep)) return refuse('inside_itself', `${start.place.name} cannot be moved into itself.`)
  return { ok: true, from: start.place, to: end.place }
}

/** What the person was shown is this very thing: its place, its kind, its size and its time. */
async function stateOf({ from, to }: { from: Place; to: Place }): Promise<string> {
  const { ino, size, mtimeMs } = await lstat(from.path)
  return [from.path, to.path, ino, size, mtimeMs].join('\0')
}

async function moveTo(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error
    await cp(from, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true, errorOnExist: true, force: false })
    await rm(from, { recursive: true })
  }
}
