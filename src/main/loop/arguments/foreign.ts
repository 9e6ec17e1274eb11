// Arguments of tools that come with a JSON Schema (MCP servers, plugins). The schema is a stranger's: it is compiled once, fetches nothing, and
// its patterns cannot hold the program.
import { createContext, Script } from 'node:vm'
import { Ajv, type Options, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Json } from '../../../shared/json'
import { type ArgumentIssue, issuesOfAjv } from './issues'

/** Parameters of a tool as a compiled JSON Schema: what stands in the place of a zod type. */
export interface ForeignParameters {
  /** As it is told to the model. */
  readonly jsonSchema: Json
  /** No issue: the value fits. Does not change the value. */
  check(value: unknown): ArgumentIssue[]
}

export type Compiled = { ok: true; parameters: ForeignParameters } | { ok: false; code: 'bad_schema'; message: string }

/** Characters of a schema's text: compiling takes time and room that grow with it. */
const MAX_SCHEMA_CHARS = 200_000

/** Draft 2020-12 unless the schema names draft 7. Fails on references to other documents, and on what is no JSON Schema. */
export function compileParameters(schema: Json): Compiled {
  try {
    if (JSON.stringify(schema).length > MAX_SCHEMA_CHARS) throw new Error(`it is longer than ${String(MAX_SCHEMA_CHARS)} characters`)
    const own = { type: 'object', ...schema }
    const draft7 = typeof schema['$schema'] === 'string' && schema['$schema'].includes('draft-07')
    const validate: ValidateFunction = draft7 ? new Ajv(OPTIONS).compile(own) : new Ajv2020(OPTIONS).compile(withoutDialect(own))
    if ('$async' in validate) throw new Error('$async is not supported')
    return {
      ok: true,
      parameters: {
        jsonSchema: own,
        check: (value) => (validate(value) ? [] : issuesOfAjv(validate.errors ?? [], value, own))
      }
    }
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    return { ok: false, code: 'bad_schema', message: `The schema of its arguments cannot be used: ${said.slice(0, 300)}` }
  }
}

/** Other drafts are read as the newest: the words that tools use mean the same in it. */
const withoutDialect = ({ $schema: _, ...rest }: Json): Json => rest

const PATTERN_MS = 50

/** A regular expression that is given up, and counts as met from then on, when it takes long: backtracking can take hours on 40 characters. */
function boundedPattern(source: string, flags: string): { test(text: string): boolean; toString(): string } {
  const pattern = new RegExp(source, flags)
  const script = new Script('pattern.test(text)')
  let slow = false
  return {
    toString: () => String(pattern), // ajv tells patterns apart by it
    test(text) {
      if (slow) return true
      try {
        return Boolean(script.runInContext(createContext({ pattern, text }), { timeout: PATTERN_MS }))
      } catch {
        slow = true
        return true
      }
    }
  }
}
boundedPattern.code = 'boundedPattern' // what ajv would write into code that stands alone

const OPTIONS: Options = {
  strict: false,
  allErrors: true,
  logger: false,
  // formats are hints to the model; the tool itself judges what it gets
  validateFormats: false,
  code: { regExp: boundedPattern }
}
