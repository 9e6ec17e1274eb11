// A short call that would fit, for the model to go by: what it gave where that fits, else what the schema suggests.
import { isObject, type Json, objectIn } from '../../../shared/json'
import { branchesOf, requiredOf, resolveSchema, typesOf } from './json-schema'

const MAX_CHARS = 400
const MAX_FIELD_CHARS = 80
const MAX_DEPTH = 6

/** JSON text of an object that `fits`, or undefined when none is found. */
export function exampleFor(schema: Json, given: unknown, fits: (value: unknown) => boolean): string | undefined {
  const fromSchema = suggest(schema, schema, 0)
  const base = isObject(fromSchema) ? fromSchema : {}
  const kept = isObject(given) ? withGiven(base, given, schema, fits) : base
  const text = JSON.stringify(kept)
  return text.length <= MAX_CHARS && fits(kept) ? text : undefined
}

/** Takes up one given field after the other, as long as the whole fits: as it is, as the one item of a list, or with what the schema suggests. */
function withGiven(base: Json, given: Json, schema: Json, fits: (value: unknown) => boolean): Json {
  let kept = base
  const properties = objectIn(schema, 'properties')
  for (const key of Object.keys(properties).filter((k) => Object.hasOwn(given, k))) {
    const own = JSON.stringify(given[key]).length <= MAX_FIELD_CHARS ? [given[key], [given[key]]] : []
    const next = [...own, suggest(properties[key], schema, 0)].map((value) => ({ ...kept, [key]: value })).find(fits)
    kept = next ?? kept
  }
  return kept
}

function suggest(at: unknown, root: Json, depth: number): unknown {
  const schema = resolveSchema(at, root)
  if (!schema || depth > MAX_DEPTH) return {}
  if ('const' in schema) return schema['const']
  for (const key of ['examples', 'enum']) {
    const list = schema[key]
    if (Array.isArray(list) && list.length > 0) return list[0] as unknown
  }
  if (schema['default'] !== undefined) return schema['default']
  const [branch] = branchesOf(schema, root)
  if (branch && !isObject(schema['properties'])) return suggest(branch, root, depth + 1)
  const [type] = [...(typesOf(schema, root) ?? [])]
  switch (type) {
    case 'string':
      return '…'.padEnd(limit(schema, 'minLength') ?? 1, '…')
    case 'integer':
    case 'number':
      return limit(schema, 'minimum') ?? Math.min(1, limit(schema, 'maximum') ?? 1)
    case 'boolean':
      return true
    case 'null':
      return null
    case 'array':
      return Array.from({ length: Math.min(limit(schema, 'minItems') ?? 1, 3) }, () => suggest(schema['items'], root, depth + 1))
    default:
      return Object.fromEntries(requiredOf(schema).map((key) => [key, suggest(objectIn(schema, 'properties')[key], root, depth + 1)]))
  }
}

const limit = (schema: Json, key: string): number | undefined =>
  typeof schema[key] === 'number' ? Math.min(schema[key], 1_000) : undefined
