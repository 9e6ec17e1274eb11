// Reading values out of JSON that someone else wrote: a field of the wrong type is the same as a missing one.

export type Json = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

export const stringIn = (from: Json, key: string): string | undefined => (typeof from[key] === 'string' ? from[key] : undefined)

export const numberIn = (from: Json, key: string): number | undefined =>
  typeof from[key] === 'number' && Number.isFinite(from[key]) ? from[key] : undefined

/** The object under `key`; an empty one when there is none. */
export const objectIn = (from: Json, key: string): Json => (isObject(from[key]) ? from[key] : {})

/** The objects of the list under `key`; none when there is no list. */
export const objectsIn = (from: Json, key: string): Json[] => (Array.isArray(from[key]) ? from[key].filter(isObject) : [])

/** The strings of the list under `key`; undefined when there is no list. */
export const stringsIn = (from: Json, key: string): string[] | undefined =>
  Array.isArray(from[key]) ? from[key].filter((v) => typeof v === 'string') : undefined

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
