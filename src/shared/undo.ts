// What was there before an effect, and the way back to it (spec T8).
import { z } from 'zod'

/** What a path holds. `link`: a symbolic link; `other`: a device, socket or pipe, which is never touched. */
export const PathKind = z.enum(['file', 'folder', 'link', 'other', 'absent'])

/** One path that a call changed, or that an undo would change. Paths are relative to the workspace, with forward slashes. */
export const PathChange = z.object({
  path: z.string(),
  before: PathKind,
  after: PathKind,
  /** Unified diff from what is there now to what would be there, for text; missing for binary and very large files. */
  diff: z.string().optional(),
  added: z.number().int(),
  removed: z.number().int(),
  /** Bytes of the content before and after, of files. */
  bytesBefore: z.number().int(),
  bytesAfter: z.number().int()
})

/** What an undo would do to one path. */
export const UndoStep = PathChange.extend({
  /**
   * `restore`: what was there comes back. `nothing`: it is as it was already. `changed_since`: somebody else changed it after Tau did, so it
   * stays as it is. `not_kept`: what was there was too large, or is no longer kept.
   */
  state: z.enum(['restore', 'nothing', 'changed_since', 'not_kept'])
})

/** One call whose effect was kept. */
export const KeptCall = z.object({
  id: z.string(),
  sessionId: z.string(),
  runId: z.string(),
  callId: z.string(),
  tool: z.string(),
  at: z.number().int(),
  /** The call undid others. */
  isUndo: z.boolean(),
  /** Set when it was undone, and by which kept call. */
  undoneBy: z.string().optional(),
  changes: z.array(PathChange.omit({ diff: true })),
  /** Not everything could be kept or compared: why, in words. */
  limits: z.array(z.string())
})

/** What is undone: one call, every call of a run, or every call after an entry of the session's tree on the present path. */
export const UndoTarget = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('call'), id: z.string() }),
  z.object({ kind: z.literal('run'), runId: z.string() }),
  z.object({ kind: z.literal('entry'), entryId: z.string().nullable() })
])

/** `token` names exactly this plan: an undo with it does these steps or refuses. */
export const UndoPlan = z.object({ token: z.string(), calls: z.array(KeptCall), steps: z.array(UndoStep) })

export const UndoUsage = z.object({
  bytes: z.number(),
  calls: z.number().int(),
  limitBytes: z.number(),
  /** Milliseconds. */
  limitAgeMs: z.number(),
  oldestAt: z.number().int().optional()
})

export type PathKind = z.infer<typeof PathKind>
export type PathChange = z.infer<typeof PathChange>
export type UndoStep = z.infer<typeof UndoStep>
export type KeptCall = z.infer<typeof KeptCall>
export type UndoTarget = z.infer<typeof UndoTarget>
export type UndoPlan = z.infer<typeof UndoPlan>
export type UndoUsage = z.infer<typeof UndoUsage>
