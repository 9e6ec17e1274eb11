import { z } from 'zod'
import type { Tool } from '../loop/tool'

/** What is kept of whole outputs; `read` never throws. */
export interface Outputs {
  /** Lines of an output from `from` (1 is the first), at most `lines` and `bytes`. Undefined: no such reference. */
  read(
    ref: string,
    part: { readonly from: number; readonly lines: number; readonly bytes: number; readonly contains?: string | undefined }
  ): Promise<{ readonly text: string; readonly next?: number; readonly total: number; readonly foreign: boolean } | undefined>
}

const MAX_LINES = 1_000
const MAX_BYTES = 30_000

const Arguments = z.strictObject({
  ref: z.string().min(1).max(100),
  offset: z.number().int().min(1).optional(),
  limit: z.number().int().min(1).max(MAX_LINES).optional(),
  contains: z.string().min(1).max(500).optional().describe('Only such lines')
})

/** Brings back what was cut from a result, whole or in part (spec C6). */
export function lookupReferenceTool(outputs: Outputs): Tool<z.infer<typeof Arguments>> {
  return {
    name: 'lookup_reference',
    description: 'Read the whole of a result that was cut.',
    label: 'readonly',
    replay: 'safe',
    parameters: Arguments,
    timeLimitMs: 30_000,
    async execute({ ref, offset = 1, limit = MAX_LINES, contains }) {
      const part = await outputs.read(ref, { from: offset, lines: limit, bytes: MAX_BYTES, contains })
      if (!part)
        return { code: 'not_found', text: `There is no output ${ref}. The reference stands at the cut of the result it belongs to.` }
      if (part.text === '')
        return { code: 'ok', text: contains === undefined ? `There is no line ${String(offset)}.` : 'No line contains that.' }
      const more = part.next === undefined ? '' : `\n[there is more: read on with offset ${String(part.next)}]`
      return { code: 'ok', text: part.text + more, foreign: part.foreign }
    }
  }
}
