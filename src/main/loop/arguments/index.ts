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

export { compileParameters, type ForeignParameters } from './foreign'
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
  'The call was cut off before it was complete. Nothing ran: nothing was written and no edit was made. Send the whole call again; if it is long, do the work in smaller parts.'

/** Arguments of a call for `tool`. An empty text counts as `{}`. */
export function readArguments(tool: Taker, raw: string): Read {
  const parsed = parseText(raw, tool.label === 'readonly')
  if (!parsed.ok && parsed.code === 'cut_off') return { ...parsed, reason: CUT_OFF }
  if (!parsed.ok) {
    const reason = `The arguments are not valid JSON (${parsed.reason}). Nothing ran. Send one JSON object${exampleText(tool, undefined)}.`
    return { ok: false, code: 'bad_json', reason }
  }
  let best: { value: unknown; issues: ArgumentIssue[] } | undefined
  for (const value of readings(tool, parsed.value)) {
    const checked = check(tool, value)
    if (checked.issues.length === 0) return { ok: true, value: checked.value }
    best = { value, issues: checked.issues } // the last reading has the fewest faults
  }
  return { ok: false, code: 'invalid_arguments', reason: refusal(tool, best?.value ?? parsed.value, best?.issues ?? []) }
}

/** The JSON Schema of what a tool takes, as models are told it. */
export function schemaOf(parameters: Parameters<unknown>): Json {
  const known = schemas.get(parameters)
  if (known) return known
  const { $schema: _, ...schema } = 'jsonSchema' in parameters ? parameters.jsonSchema : z.toJSONSchema(parameters, { io: 'input' })
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
  const object = asObject(value)
  if (object === undefined) return
  yield object
  yield coerceToSchema(object, schema, readInner)
  if (inner && keys.length === 0) yield inner
}

/** The object that a value is one JSON level away from; undefined for anything else. */
function asObject(value: unknown): Json | undefined {
  if (isObject(value)) return value
  if (Array.isArray(value)) return value.length === 0 ? {} : value.length === 1 && isObject(value[0]) ? value[0] : undefined
  const read = typeof value === 'string' && value.trim() !== '' ? readInner(value)?.value : undefined
  return isObject(read) ? read : undefined
}

/** A text inside a text is taken only when it is whole. */
const readInner: ReadText = (text) => {
  const parsed = parseText(text, false)
  return parsed.ok ? { value: parsed.value } : undefined
}

function check(tool: Taker, value: unknown): { value: unknown; issues: ArgumentIssue[] } {
  const { parameters } = tool
  if ('jsonSchema' in parameters) return { value, issues: parameters.check(value) }
  const checked = parameters.safeParse(value)
  return checked.success ? { value: checked.data, issues: [] } : { value, issues: issuesOfZod(checked.error, value, schemaOf(parameters)) }
}

function refusal(tool: Taker, value: unknown, issues: readonly ArgumentIssue[]): string {
  const whole = asObject(value) === undefined
  // what an empty object lacks is what the model has to send
  const found = whole ? check(tool, {}).issues : issues
  const shape = whole ? `The arguments must be one JSON object, not ${describeValue(value)}. ` : ''
  return `Invalid arguments for ${tool.name}: ${shape}${sayIssues(found)} Nothing ran. Call it again with corrected arguments${exampleText(tool, value)}.`
}

function exampleText(tool: Taker, given: unknown): string {
  const example = exampleFor(schemaOf(tool.parameters), given, (value) => check(tool, value).issues.length === 0)
  return example === undefined ? '' : `, for example ${example}`
}
