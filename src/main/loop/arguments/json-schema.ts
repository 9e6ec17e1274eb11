// What can be read off a JSON Schema without a validator. Schemas come from strangers: references stay inside the document and are followed a
// few steps only.
import { isObject, type Json, objectIn, objectsIn, stringIn, stringsIn } from '../../../shared/json'

const MAX_STEPS = 8

/** The schema itself, references to its own document followed; undefined where it says nothing (`true`, or a reference that leads nowhere). */
export function resolveSchema(schema: unknown, root: Json): Json | undefined {
  let here: unknown = schema
  for (let step = 0; step < MAX_STEPS && isObject(here); step++) {
    const ref = stringIn(here, '$ref')
    if (ref === undefined) return here
    if (!ref.startsWith('#')) return undefined
    here = root
    for (const key of ref
      .slice(1)
      .split('/')
      .filter((k) => k !== '')) {
      const name = key.replaceAll('~1', '/').replaceAll('~0', '~')
      here = isObject(here) && Object.hasOwn(here, name) ? here[name] : undefined
    }
  }
  return undefined
}

/** Branches of which one must fit; none when the schema has no such choice. */
export const branchesOf = (schema: Json, root: Json): Json[] =>
  [...objectsIn(schema, 'anyOf'), ...objectsIn(schema, 'oneOf')].map((s) => resolveSchema(s, root)).filter((s) => s !== undefined)

/** JSON types that fit; undefined when any may. */
export function typesOf(schema: Json, root: Json, depth = 0): ReadonlySet<string> | undefined {
  const named = stringIn(schema, 'type') ?? stringsIn(schema, 'type')
  if (named !== undefined) return new Set([...[named].flat(), ...(schema['nullable'] === true ? ['null'] : [])])
  const values = Array.isArray(schema['enum']) ? schema['enum'] : 'const' in schema ? [schema['const']] : undefined
  if (values) return new Set(values.map(typeOf))
  const branches = depth < MAX_STEPS ? branchesOf(schema, root).map((b) => typesOf(b, root, depth + 1)) : []
  if (branches.length > 0) return branches.every((b) => b !== undefined) ? new Set(branches.flatMap((b) => [...b])) : undefined
  if (isObject(schema['properties'])) return new Set(['object'])
  if (schema['items'] !== undefined) return new Set(['array'])
  return undefined
}

export function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value
}

export const fitsType = (value: unknown, types: ReadonlySet<string>): boolean =>
  types.has(typeOf(value)) || (Number.isInteger(value) && types.has('integer'))

/** The schema at a path of keys and positions, as far as it can be told. */
export function schemaAt(root: Json, path: readonly PropertyKey[]): Json | undefined {
  let here = resolveSchema(root, root)
  for (const key of path) {
    if (!here) return undefined
    here = resolveSchema(typeof key === 'number' ? here['items'] : objectIn(here, 'properties')[String(key)], root)
  }
  return here
}

export const requiredOf = (schema: Json): readonly string[] => stringsIn(schema, 'required') ?? []
