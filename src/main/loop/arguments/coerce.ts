// Values that arrive one JSON level too deep, told apart by the schema: a list, object, number or truth value as a string, everything inside
// one more object, null for a field that may be left out. Only a value of a wrong type is touched, and a string is never made from another.
import { isObject, type Json, objectIn } from '../../../shared/json'
import { branchesOf, fitsType, requiredOf, resolveSchema, typesOf } from './json-schema'

/** Reads the text of a nested value; undefined where it cannot be read with certainty. */
export type ReadText = (text: string) => { readonly value: unknown } | undefined

const MAX_DEPTH = 100

/** The value with what the schema shows to be meant; the value itself where nothing applies. */
export function coerceToSchema(value: unknown, schema: Json, readText: ReadText): unknown {
  const visit = (here: unknown, at: unknown, depth: number): unknown => {
    const resolved = resolveSchema(at, schema)
    if (!resolved || depth > MAX_DEPTH) return here
    const types = typesOf(resolved, schema)
    const typed = !types || fitsType(here, types) ? here : typeof here === 'string' ? fromText(here, types, readText) : here
    const inner = branchFor(typed, resolved, schema)
    if (Array.isArray(typed)) return typed.map((item: unknown) => visit(item, inner['items'], depth + 1))
    if (!isObject(typed)) return typed
    const properties = objectIn(inner, 'properties')
    const required = requiredOf(inner)
    return Object.fromEntries(
      Object.entries(typed).flatMap(([key, item]) => {
        const field = Object.hasOwn(properties, key) ? properties[key] : undefined
        if (field === undefined) return [[key, item]]
        const meant = visit(item, field, depth + 1)
        return saysNothing(meant, field, schema) && !required.includes(key) ? [] : [[key, meant]]
      })
    )
  }
  return visit(value, schema, 0)
}

/** The object inside a wrapper that the schema does not know: `{"input": {…}}`, or the whole call `{"name": …, "arguments": {…}}`. */
export function unwrapArguments(value: unknown, toolName: string, schema: Json, readText: ReadText): Json | undefined {
  if (!isObject(value)) return undefined
  const properties = objectIn(schema, 'properties')
  const keys = Object.keys(value)
  const named = keys.length === 2 ? keys.find((k) => NAMES.has(k) && value[k] === toolName) : undefined
  const [key] = keys.filter((k) => k !== named)
  if (key === undefined || keys.length > (named === undefined ? 1 : 2) || keys.some((k) => Object.hasOwn(properties, k))) return undefined
  const content = value[key]
  const inner = typeof content === 'string' ? readText(content)?.value : content
  return isObject(inner) ? inner : undefined
}

const NAMES = new Set(['name', 'tool', 'tool_name', 'function'])

/** The one branch of a choice that an object or list can be meant for; the schema itself where there is no choice. */
function branchFor(value: unknown, schema: Json, root: Json): Json {
  const branches = branchesOf(schema, root).filter((b) => fitsType(value, typesOf(b, root) ?? new Set()))
  return branches.length === 1 && branches[0] ? branches[0] : schema
}

function saysNothing(value: unknown, field: unknown, root: Json): boolean {
  if (value !== null) return false
  const resolved = resolveSchema(field, root)
  const types = resolved && typesOf(resolved, root)
  return types !== undefined && !types.has('null')
}

/** A string where the schema wants something else. Numbers only where the text and the number say the same. */
function fromText(text: string, types: ReadonlySet<string>, readText: ReadText): unknown {
  const trimmed = text.trim()
  if (trimmed === 'null') return null
  if (types.has('boolean') && /^(true|false)$/i.test(trimmed)) return trimmed.toLowerCase() === 'true'
  if (types.has('number') || types.has('integer')) {
    const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(trimmed) ? Number(trimmed) : NaN
    const exact = Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number))
    if (exact && fitsType(number, types)) return number
  }
  if (!/^[[{`]/.test(trimmed)) return text
  const read = readText(trimmed)
  return read && fitsType(read.value, types) ? read.value : text
}
