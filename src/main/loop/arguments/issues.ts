// What is wrong with arguments, in one shape whatever found it, so that tools of our own and of strangers speak alike (spec T3).
import type { ErrorObject } from 'ajv'
import type { z } from 'zod'
import { isObject, type Json, objectIn, objectsIn, stringIn } from '../../../shared/json'
import { schemaAt, typeOf, typesOf } from './json-schema'

export interface ArgumentIssue {
  /** Path of the field, as `edits.0.old`; `arguments` for the whole. */
  readonly field: string
  /** What fits, in words. */
  readonly expected: string
  /** What was there, in words; `nothing` when the field is missing. */
  readonly got: string
}

export const issuesOfZod = (error: z.ZodError, value: unknown, schema: Json): ArgumentIssue[] =>
  error.issues.flatMap((issue): ArgumentIssue[] => {
    const { path } = issue
    const here = valueAt(value, path)
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownField([...path, key], here, schema))
    const missing = here === undefined
    return [{ field: fieldOf(path), expected: missing ? required(schema, path) : wordsOf(issue, schema), got: describeValue(here) }]
  })

export function issuesOfAjv(errors: readonly ErrorObject[], value: unknown, schema: Json): ArgumentIssue[] {
  // each branch of a choice complains too: the choice itself says it better
  const choices = errors.filter((e) => e.keyword === 'anyOf' || e.keyword === 'oneOf')
  const inBranch = (e: ErrorObject): boolean =>
    choices.some((c) => c !== e && e.instancePath === c.instancePath && e.schemaPath.startsWith(`${c.schemaPath}/`))
  return errors
    .filter((e) => !inBranch(e))
    .map((error) => {
      const path = pathOf(error.instancePath)
      const params = error.params as Json
      const here = valueAt(value, path)
      const key = stringIn(params, 'missingProperty') ?? stringIn(params, 'additionalProperty') ?? stringIn(params, 'unevaluatedProperty')
      if (error.keyword === 'required') {
        const full = [...path, key ?? '']
        return { field: fieldOf(full), expected: required(schema, full), got: 'nothing' }
      }
      if (key !== undefined) return unknownField([...path, key], here, schema)
      return { field: fieldOf(path), expected: ajvWords(error, schema, path), got: describeValue(here) }
    })
}

/** A value in a few words: its type, and itself where it is short. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return `an array of ${String(value.length)}`
  if (isObject(value)) return 'an object'
  const text = JSON.stringify(value)
  return `${typeOf(value)} ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`
}

const MAX_ISSUES = 5

export const sayIssues = (issues: readonly ArgumentIssue[]): string =>
  [
    ...issues.slice(0, MAX_ISSUES).map(({ field, expected, got }) => `${field}: expected ${expected}, got ${got}.`),
    ...(issues.length > MAX_ISSUES ? [`And ${String(issues.length - MAX_ISSUES)} more.`] : [])
  ].join(' ')

const required = (schema: Json, path: readonly PropertyKey[]): string => `${describeSchema(schema, path)} (required)`

function unknownField(path: readonly PropertyKey[], parent: unknown, schema: Json): ArgumentIssue {
  const key = path.at(-1) ?? ''
  const known = Object.keys(objectIn(schemaAt(schema, path.slice(0, -1)) ?? {}, 'properties'))
  const list = known.length > 0 ? `the fields are ${known.slice(0, 20).join(', ')}` : 'there are no fields'
  return { field: fieldOf(path), expected: `no field of that name (${list})`, got: describeValue(valueAt(parent, [key])) }
}

/** What fits at a path: type, and the values or bounds that go with it. */
function describeSchema(root: Json, path: readonly PropertyKey[]): string {
  const schema = schemaAt(root, path)
  if (!schema) return 'a value'
  const values = valuesIn(schema)
  if (values) return values
  const branches = objectsIn(schema, 'anyOf').concat(objectsIn(schema, 'oneOf'))
  const types = [...(typesOf(schema, root) ?? [])]
  const named = types.length > 0 ? types.join(' or ') : 'a value'
  return branches.length > 1 && types.length < 2 ? `${named} of one of ${String(branches.length)} shapes` : named
}

function valuesIn(schema: Json): string | undefined {
  if ('const' in schema) return JSON.stringify(schema['const'])
  if (!Array.isArray(schema['enum'])) return undefined
  return `one of ${schema['enum']
    .slice(0, 20)
    .map((v) => JSON.stringify(v))
    .join(', ')}`
}

/** zod's own words begin with what was found, which is said apart. */
function wordsOf(issue: z.core.$ZodIssue, schema: Json): string {
  const words = issue.message.replace(/^[^:]*: expected /, '')
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected === 'int' ? 'integer' : issue.expected
    case 'invalid_value':
      return describeSchema(schema, issue.path)
    case 'invalid_union':
      return describeSchema(schema, issue.path)
    case 'too_small':
    case 'too_big':
      return words
    default:
      return `something else (${issue.message})`
  }
}

function ajvWords(error: ErrorObject, schema: Json, path: readonly PropertyKey[]): string {
  switch (error.keyword) {
    case 'type':
    case 'enum':
    case 'const':
    case 'anyOf':
    case 'oneOf':
      return describeSchema(schema, path)
    default:
      return `a value that ${error.message ?? `keeps to ${error.keyword}`}`
  }
}

const fieldOf = (path: readonly PropertyKey[]): string => (path.length > 0 ? path.map(String).join('.') : 'arguments')

/** Positions in lists are numbers, as zod has them. */
const pathOf = (pointer: string): PropertyKey[] =>
  pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((key) => (/^\d+$/.test(key) ? Number(key) : key))

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let here = value
  for (const key of path) {
    if (Array.isArray(here)) here = here[Number(key)]
    else here = isObject(here) && Object.hasOwn(here, key) ? here[String(key)] : undefined
  }
  return here
}
