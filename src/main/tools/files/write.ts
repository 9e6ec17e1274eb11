// Writing a file: all of the new content or all of the old, whenever the process ends; and the picture of it that the person sees first.
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, open, rename, rm } from 'node:fs/promises'
import type { Preview } from '../../../shared/session'
import type { ToolOutput } from '../../loop/tool'
import { textDiff } from './diff'
import { digestOf } from './memory'
import { inFolderOf, openToRead, type Place } from './place'

/** Bytes of a file that a tool reads whole, edits or writes. */
export const MAX_FILE_BYTES = 50_000_000

/** What is there: bytes and mode of an ordinary file; nothing; or something that no tool touches. */
export type There =
  | { readonly kind: 'file'; readonly bytes: Buffer; readonly mode: number; readonly links: number }
  | { readonly kind: 'absent' }
  | { readonly kind: 'refused'; readonly refusal: ToolOutput }

/** Never throws: what cannot be read is refused with the reason. */
export async function whatIsThere(place: Place): Promise<There> {
  const refused = (code: string, text: string): There => ({ kind: 'refused', refusal: { code, text: `${text} Nothing was done.` } })
  const info = await lstat(place.path).catch(() => undefined)
  if (!info) return { kind: 'absent' }
  if (info.isDirectory()) return refused('is_directory', `${place.name} is a folder.`)
  if (!info.isFile())
    return refused('not_a_file', `${place.name} is neither a file nor a folder (a device, socket or pipe). It was not opened.`)
  if (info.size > MAX_FILE_BYTES)
    return refused('too_large', `${place.name} has ${String(info.size)} bytes; files of up to ${String(MAX_FILE_BYTES)} can be changed.`)
  try {
    const file = await openToRead(place)
    try {
      return { kind: 'file', bytes: await file.readFile(), mode: info.mode & 0o7777, links: info.nlink }
    } finally {
      await file.close()
    }
  } catch (error) {
    return { kind: 'refused', refusal: failed(place, error) }
  }
}

/** Names the state that a preview was made from. */
export const basisOf = (place: Place, there: There): string =>
  `${place.path}\0${there.kind === 'file' ? digestOf(there.bytes) : there.kind}`

export const changedSinceShown = (name: string): ToolOutput => ({
  code: 'changed_since_shown',
  text: `${name} changed after the person was shown what would happen. Nothing was done. Read it again.`
})

/** A new file beside the old one, flushed, then renamed over it. A file with several hard links is written in place, so that they stay one. */
export async function writeWhole(place: Place, bytes: Uint8Array, old: Extract<There, { kind: 'file' }> | undefined): Promise<void> {
  await inFolderOf(place, async (folder, name) => {
    if (old && old.links > 1) {
      const file = await open(folder.at(name), constants.O_WRONLY | constants.O_TRUNC | (constants.O_NOFOLLOW || 0))
      try {
        await file.writeFile(bytes)
        await file.sync()
      } finally {
        await file.close()
      }
      return
    }
    const fresh = folder.at(`.tau-${randomBytes(6).toString('hex')}`)
    try {
      const file = await open(fresh, 'wx', old?.mode ?? 0o644)
      try {
        if (old) await file.chmod(old.mode) // what the umask took
        await file.writeFile(bytes)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(fresh, folder.at(name))
    } catch (error) {
      await rm(fresh, { force: true })
      throw error
    }
  })
}

/** Why something with a file failed, for a model and a person. */
export function failed(place: Place, error: unknown): ToolOutput {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const known: Record<string, [string, string]> = {
    EACCES: ['no_permission', 'may not be used by the person who runs Tau'],
    EPERM: ['no_permission', 'may not be changed by the person who runs Tau'],
    EROFS: ['read_only', 'is on a disk that can only be read'],
    ENOSPC: ['disk_full', 'could not be written: the disk is full'],
    EDQUOT: ['disk_full', 'could not be written: the quota is used up'],
    ENOENT: ['not_found', 'is not there any more'],
    ENOTDIR: ['not_found', 'cannot be there: a part of its path is a file'],
    ENAMETOOLONG: ['bad_path', 'has a name that is too long for this disk'],
    ELOOP: ['outside_workspace', 'is a link now, which it was not a moment ago'],
    ESWAPPED: ['outside_workspace', 'does not lead where it led a moment ago']
  }
  const [name, what] = known[code] ?? ['failed', `failed: ${error instanceof Error ? error.message : String(error)}`]
  return { code: name, text: `${place.name} ${what}. Nothing was done.` }
}

export function filePreview(place: Place, change: 'create' | 'replace' | 'edit' | 'delete', before: string, after: string): Preview {
  const { diff, added, removed } = textDiff(before, after)
  const size = `(the difference is too large to show: ${String(before.length)} characters become ${String(after.length)})`
  return { kind: 'file', path: place.path, change, diff: diff ?? `@@ @@\n ${size}`, added, removed }
}
