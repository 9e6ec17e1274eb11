import { z } from 'zod'
import type { Tool } from '../../loop/tool'
import type { FileMemory } from './memory'
import { locate } from './place'
import { holdsMask, MASKED } from './mask'
import { decode, encode } from './text'
import { basisOf, changedSinceShown, failed, filePreview, MAX_FILE_BYTES, whatIsThere, writeWhole } from './write'

const Arguments = z.strictObject({ path: z.string().min(1), content: z.string().max(MAX_FILE_BYTES) })

/** Creates or replaces a text file, whole or not at all. A file that is replaced keeps its mode, its encoding and its links. */
export function writeFileTool(memory: FileMemory): Tool<z.infer<typeof Arguments>> {
  return {
    name: 'write_file',
    description: 'Create a text file, or replace all of it.',
    label: 'write',
    replay: 'never',
    parameters: Arguments,
    timeLimitMs: 30_000,
    touches: ({ path }) => ({ writes: [path] }),

    async preview({ path, content }, scope) {
      const found = await locate(scope, path, 'write')
      if (!found.ok) return { refuse: found.refusal }
      const there = await whatIsThere(found.place)
      if (there.kind === 'refused') return { refuse: there.refusal }
      const before = there.kind === 'file' ? (decode(there.bytes)?.text ?? '') : ''
      if (holdsMask(content, before)) return { refuse: MASKED }
      return {
        preview: filePreview(found.place, there.kind === 'file' ? 'replace' : 'create', before, content),
        basis: basisOf(found.place, there)
      }
    },

    async execute({ path, content }, scope) {
      const found = await locate(scope, path, 'write')
      if (!found.ok) return found.refusal
      const { place } = found
      const there = await whatIsThere(place)
      if (there.kind === 'refused') return there.refusal
      if (scope.basis !== undefined && scope.basis !== basisOf(place, there)) return changedSinceShown(place.name)
      const old = there.kind === 'file' ? there : undefined
      if (old && memory.known(scope.sessionId, place.path, old.bytes) === 'changed')
        return { code: 'stale', text: `${place.name} changed since you read it. Nothing was written. Read it again, then decide.` }
      const was = old && decode(old.bytes)
      if (holdsMask(content, was?.text ?? '')) return MASKED
      const bytes = (was && was.encoding !== 'gb18030' ? encode(content, was) : undefined) ?? Buffer.from(content)
      if (scope.signal.aborted) return { code: 'aborted', text: 'The call was stopped. Nothing was written.' }
      try {
        await writeWhole(place, bytes, old)
      } catch (error) {
        return failed(place, error)
      }
      memory.note(scope.sessionId, place.path, bytes)
      return { code: 'ok', text: `${old ? 'Replaced' : 'Created'} ${place.name} (${String(bytes.length)} bytes).` }
    }
  }
}
