// From the text that a model wrote to arguments that fit (spec T2, T4): parse, repair what is safe to repair, read by the schema what arrived one
// level too deep, validate. Every refusal says what the model can do about it.
import { z } from 'zod'
import { isObject, type Json } from '../../../shared/json'
import type { Label } from '../../../shared/policy'
import { coerceToSchema, type ReadText, unwrapArguments } from './coerce'
import { exampleFor } from './example'
import type { ForeignParameters } from './foreign'
import { type ArgumentIssue, describeValue, issuesOfZod, sayIssues } from './issues'
import { parseText } from './parse'

export { compileParameters } from './foreign'
export { splitArguments } from './split'

export type Read = { ok: true; value: unknown } | { ok: false; code: 'bad_json' | 'cut_off' | 'invalid_arguments'; reason: string }

/** What a tool takes: a zod type for our own, a compiled JSON Schema for others. */
export type Parameters<A> = z.ZodType<A> | ForeignParameters

/** What reading arguments has to know of a tool. */
export interface Taker {
  readonly name: string
  readonly label: Label
  readonly parameters: Parameters<unknown>
}

/** What a model is told when a call was cut; the same words whether the token limit or the stream cut it. */
export const CUT_OFF =
  'The call was cut off before it was complete. Nothing ran: nothing was written, no edit was made, no command ran. Send the whole call again; if it is long, do the work in smaller parts.'

/** Arguments of a call for `tool`. An empty text counts as `{}`. */
export function readArguments(tool: Taker, raw: string): Read {
  const parsed = parseText(raw, tool.label === 'readonly')
  if (!parsed.ok && parsed.code === 'cut_off') return { ...parsed, reason: CUT_OFF }
  if (!parsed.ok) {
    const reason = `The arguments are not valid JSON (${parsed.reason}). Nothing ran. Send one JSON object${exampleText(tool, undefined)}.`
    return { ok: false, code: 'bad_json', reason }
  }
  let best: Reading = { value: undefined, issues: check(tool, {}).issues } // what an empty object lacks is what the model has to send
  for (const value of readings(tool, parsed.value)) {
    const checked = check(tool, value)
    if (checked.issues.length === 0) return { ok: true, value: checked.value }
    best = { value, issues: checked.issues } // the last reading has the fewest faults
  }
  return { ok: false, code: 'invalid_arguments', reason: refusal(tool, parsed.value, best) }
}

/** The JSON Schema of what a tool takes, as models are told it. */
export function schemaOf(parameters: Parameters<unknown>): Json {
  const known = schemas.get(parameters)
  if (known) return known
  const { $schema: _, ...schema } =
    'jsonSchema' in parameters ? parameters.jsonSchema : z.toJSONSchema(parameters, { io: 'input', override: shorten })
  schemas.set(parameters, schema)
  return schema
}
const schemas = new WeakMap<object, Json>()

/** What the value can mean, the likeliest first. */
function* readings(tool: Taker, value: unknown): Generator {
  const schema = schemaOf(tool.parameters)
  const inner = unwrapArguments(value, tool.name, schema, readInner)
  const keys = Object.keys(inner ?? {})
  // before the value itself: a schema that lets unknown fields through would take the wrapper for one
  if (keys.length > 0 && keys.every((key) => isObject(schema['properties']) && Object.hasOwn(schema['properties'], key)))
    yield coerceToSchema(inner, schema, readInner)
  // nothing at all, said in JSON, fits a tool that needs nothing
  const object = value === null || value === '' ? {} : asObject(value)
  if (object === undefined) return
  yield object
  yield coerceToSchema(object, schema, readInner)
  if (inner && keys.length === 0) yield inner
}

/** The object that a value is a few JSON levels away from; undefined for anything else. */
function asObject(value: unknown): Json | undefined {
  let here = value
  for (let level = 0; level < MAX_LEVELS && typeof here === 'string' && here.trim() !== ''; level++) here = readInner(here)?.value
  if (Array.isArray(here)) return here.length === 0 ? {} : here.length === 1 && isObject(here[0]) ? here[0] : undefined
  return isObject(here) ? here : undefined
}
const MAX_LEVELS = 3

/** A text inside a text is taken only when it is whole. */
const readInner: ReadText = (text) => {
  const parsed = parseText(text, false)
  return parsed.ok ? { value: parsed.value } : undefined
}

/** One way to take the arguments, and what is wrong with it. */
interface Reading {
  readonly value: unknown
  readonly issues: readonly ArgumentIssue[]
}

function check({ parameters }: Taker, value: unknown): Reading {
  if ('jsonSchema' in parameters) return { value, issues: parameters.check(value) }
  const checked = parameters.safeParse(value)
  if (checked.success) return { value: checked.data, issues: [] }
  return { value, issues: issuesOfZod(checked.error, value, schemaOf(parameters)) }
}

function refusal(tool: Taker, sent: unknown, best: Reading): string {
  const shape = asObject(sent) === undefined ? `The arguments must be one JSON object, not ${describeValue(sent)}. ` : ''
  return `Invalid arguments for ${tool.name}: ${shape}${sayIssues(best.issues)} Nothing ran. Call it again with corrected arguments${exampleText(tool, best.value)}.`
}

function exampleText(tool: Taker, given: unknown): string {
  const example = exampleFor(schemaOf(tool.parameters), given, (value) => check(tool, value).issues.length === 0)
  return example === undefined ? '' : `, for example ${example}`
}

/** Takes out of an own tool's schema what only checks: a refusal says it when it matters, and every idle word costs tokens in every request. */
function shorten({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  for (const check of [
    'default',
    'additionalProperties',
    'minLength',
    'maxLength',
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'minItems',
    'maxItems'
  ] as const)
    Reflect.deleteProperty(jsonSchema, check)
}
