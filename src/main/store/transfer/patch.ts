// What Pi has no place for: fields that would come back otherwise than they went travel beside the rest, under `tau` on the same line. Pi keeps
// fields that it does not know, and an import puts them back after checking them.
import { isDeepStrictEqual } from 'node:util'
import { isObject, type Json } from '../../../shared/json'
import { Entry } from '../../../shared/session'
import type { Content } from './pi-read'

/** Place and pointers of an entry: they are written in Pi's own fields, and ids differ from file to file. */
const PLACE: ReadonlySet<string> = new Set(['id', 'sessionId', 'parentId', 'at', 'keepsFrom', 'from', 'targetId'])

/** Fields of `own` that a reader of its line has otherwise; null for what it has too many. Undefined when they are alike. */
export function patchOf(read: Content, own: Entry): Json | undefined {
  const patch = difference(read, own, PLACE)
  return Object.keys(patch).length === 0 ? undefined : patch
}

function difference(read: Json, own: Json, skip?: ReadonlySet<string>): Json {
  const patch: Record<string, unknown> = {}
  for (const key of new Set([...Object.keys(read), ...Object.keys(own)])) {
    if (skip?.has(key) === true || isDeepStrictEqual(read[key], own[key])) continue
    patch[key] = isObject(read[key]) && isObject(own[key]) ? difference(read[key], own[key]) : (own[key] ?? null)
  }
  return patch
}

/** What a line means, with what stands under its `tau`; without it when that does not fit: anyone may have written it. */
export function patched(content: Content, patch: unknown): Content {
  if (!isObject(patch)) return content
  const whole = apply(content, Object.fromEntries(Object.entries(patch).filter(([key]) => !PLACE.has(key))))
  const checked = Entry.safeParse({ ...whole, id: '', sessionId: '', parentId: null, at: 0 })
  if (!checked.success || checked.data.type !== content.type) return content
  const { id, sessionId, parentId, at, ...rest } = checked.data
  return rest
}

function apply(read: Json, patch: Json): Json {
  const whole: Record<string, unknown> = { ...read }
  for (const [key, value] of Object.entries(patch)) {
    const before = whole[key]
    if (value === null) Reflect.deleteProperty(whole, key)
    else whole[key] = isObject(before) && isObject(value) ? apply(before, value) : value
  }
  return whole
}
