import { lstat, readdir } from 'node:fs/promises'
import trash from 'trash'
import { z } from 'zod'
import type { Tool, ToolOutput, ToolScope } from '../../loop/tool'
import type { FileMemory } from './memory'
import { locate, type Place } from './place'
import { decode } from './text'
import { failed, filePreview, whatIsThere } from './write'

const Arguments = z.strictObject({ path: z.string().min(1) })
type Arguments = z.infer<typeof Arguments>

/** Moves a file, a link or a folder to the system's bin: the person can take it out there, or undo the call. */
export function deleteFileTool(memory: FileMemory): Tool<Arguments> {
  return {
    name: 'delete_file',
    description: 'Move a file or folder to the bin.',
    label: 'write',
    replay: 'never',
    parameters: Arguments,
    timeLimitMs: 60_000,
    touches: ({ path }) => ({ writes: [path] }),

    async preview(args, scope) {
      const found = await find(args, scope)
      if ('refusal' in found) return { refuse: found.refusal }
      const there = await whatIsThere(found)
      const text = there.kind === 'file' ? (decode(there.bytes)?.text ?? '') : ''
      return { preview: filePreview(found, 'delete', text, ''), basis: await stateOf(found) }
    },

    async execute(args, scope) {
      const found = await find(args, scope)
      if ('refusal' in found) return found.refusal
      if (scope.basis !== undefined && scope.basis !== (await stateOf(found)))
        return { code: 'changed_since_shown', text: `${found.name} changed after the person was asked. Nothing was deleted.` }
      try {
        await trash([found.path], { glob: false })
      } catch (error) {
        return failed(found, error)
      }
      memory.forget(scope.sessionId, found.path)
      return { code: 'ok', text: `${found.name} is in the bin of the system.` }
    }
  }
}

async function find({ path }: Arguments, scope: ToolScope): Promise<Place | { refusal: ToolOutput }> {
  const refuse = (code: string, text: string): { refusal: ToolOutput } => ({ refusal: { code, text: `${text} Nothing was deleted.` } })
  const found = await locate(scope, path, 'write', true)
  if (!found.ok) return { refusal: found.refusal }
  const { place } = found
  if (!place.exists) return refuse('not_found', `There is nothing at ${place.name}.`)
  if (place.name === '.') return refuse('is_workspace', 'The workspace itself cannot be deleted.')
  const info = await lstat(place.path)
  if (!info.isFile() && !info.isDirectory() && !info.isSymbolicLink())
    return refuse('not_a_file', `${place.name} is a device, a socket or a pipe.`)
  return place
}

/** The very thing that the person was shown; of a folder also what is in it. */
async function stateOf({ path }: Place): Promise<string> {
  const info = await lstat(path)
  const inside = info.isDirectory() ? (await readdir(path)).sort().join('\0') : ''
  return [path, info.ino, info.size, info.mtimeMs, inside].join('\0')
}
