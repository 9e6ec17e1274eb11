import { z } from 'zod'
import type { Tool, ToolOutput, ToolScope } from '../../loop/tool'
import { holdsMask, MASKED } from './mask'
import { applyEdits } from './match'
import { type FileMemory, type Known } from './memory'
import { locate, type Place } from './place'
import { decode, encode } from './text'
import { basisOf, changedSinceShown, failed, filePreview, type There, whatIsThere, writeWhole } from './write'

const Arguments = z.strictObject({
  path: z.string().min(1),
  edits: z
    .array(z.strictObject({ old: z.string(), new: z.string(), all: z.boolean().optional().describe('Every place') }))
    .min(1)
    .max(200)
})
type Arguments = z.infer<typeof Arguments>

/** What an edit comes to, before anything is written. */
type Plan =
  | { readonly ok: false; readonly refusal: ToolOutput }
  | {
      readonly ok: true
      readonly place: Place
      readonly there: Extract<There, { kind: 'file' }>
      readonly before: string
      readonly after: string
      readonly bytes: Buffer
      readonly said: string
    }

/**
 * Replaces text in a file. What is not named keeps its bytes: line ends, byte order mark, encoding, mode, the last line's end. A file that changed
 * since the session read it is not touched; one that it never read is edited by exact matches only.
 */
export function editFileTool(memory: FileMemory): Tool<Arguments> {
  async function plan({ path, edits }: Arguments, scope: ToolScope, known: (place: Place, bytes: Buffer) => Known): Promise<Plan> {
    const refuse = (code: string, text: string): Plan => ({ ok: false, refusal: { code, text: `${text} No edit was made.` } })
    const found = await locate(scope, path, 'write')
    if (!found.ok) return { ok: false, refusal: found.refusal }
    const { place } = found
    const there = await whatIsThere(place)
    if (there.kind === 'refused') return { ok: false, refusal: there.refusal }
    if (there.kind === 'absent') return refuse('not_found', `There is no file ${place.name}. To create it use write_file.`)
    const state = known(place, there.bytes)
    if (state === 'changed') return refuse('stale', `${place.name} changed since you read it. Read it again, then edit what is there now.`)
    const text = decode(there.bytes)
    if (!text) return refuse('binary', `${place.name} is not a text file.`)
    const edited = applyEdits(text.text, edits, state === 'unread')
    if (!edited.ok) return refuse(edited.code, `${place.name}: ${edited.reason}`)
    if (edits.some((e) => holdsMask(e.new, text.text))) return { ok: false, refusal: MASKED }
    const bytes = encode(edited.text, text)
    if (!bytes)
      return refuse(
        'encoding',
        `${place.name} is ${text.encoding}, which Tau cannot write with this text. Convert the file to UTF-8 first.`
      )
    const { replaced, lines, tolerant } = edited
    const where = `${lines.length === 1 ? 'line' : 'lines'} ${lines.slice(0, 20).join(', ')}${lines.length > 20 ? ', …' : ''}`
    const how = tolerant ? ' ("old" matched but for blanks or quotes)' : ''
    const said = `Edited ${place.name}: ${String(replaced)} ${replaced === 1 ? 'replacement' : 'replacements'}, ${where}${how}.`
    return { ok: true, place, there, before: text.text, after: edited.text, bytes, said }
  }

  return {
    name: 'edit_file',
    description: 'Replace text in a file. Each old text must be there exactly once.',
    label: 'write',
    replay: 'never',
    parameters: Arguments,
    timeLimitMs: 30_000,
    touches: ({ path }) => ({ reads: [path], writes: [path] }),

    async preview(args, scope) {
      const made = await plan(args, scope, (place, bytes) => memory.known(scope.sessionId, place.path, bytes))
      if (!made.ok) return { refuse: made.refusal }
      return { preview: filePreview(made.place, 'edit', made.before, made.after), basis: basisOf(made.place, made.there) }
    },

    async execute(args, scope) {
      const made = await plan(args, scope, (place, bytes) => memory.known(scope.sessionId, place.path, bytes))
      if (!made.ok) return made.refusal
      const { place, there, bytes, said } = made
      if (scope.basis !== undefined && scope.basis !== basisOf(place, there)) return changedSinceShown(place.name)
      if (scope.signal.aborted) return { code: 'aborted', text: 'The call was stopped. Nothing was written.' }
      try {
        await writeWhole(place, bytes, there)
      } catch (error) {
        return failed(place, error)
      }
      memory.note(scope.sessionId, place.path, bytes)
      return { code: 'ok', text: said }
    }
  }
}
