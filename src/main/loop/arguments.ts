// From the text that a model wrote to arguments that fit (spec T2, T4): parse, repair what is safe to repair, validate. Every refusal says
// what the model can do about it.
import { jsonrepair } from 'jsonrepair'
import type { z } from 'zod'
import type { Tool } from './tool'

export type Read = { ok: true; value: unknown } | { ok: false; code: 'bad_json' | 'invalid_arguments'; reason: string }

/** Arguments of a call for `tool`. An empty text counts as `{}`: many models send nothing for a tool that needs nothing. */
export function readArguments(tool: Tool, raw: string): Read {
  const parsed = parseObject(raw.trim() === '' ? '{}' : raw)
  if (!parsed.ok) return parsed
  const checked = tool.parameters.safeParse(parsed.value)
  if (checked.success) return { ok: true, value: checked.data }
  return {
    ok: false,
    code: 'invalid_arguments',
    reason: `Invalid arguments for ${tool.name}: ${issuesOf(checked.error)} Nothing ran. Call it again with corrected arguments.`
  }
}

function parseObject(raw: string): Read {
  let value: unknown
  try {
    value = JSON.parse(raw)
  } catch (error) {
    try {
      value = JSON.parse(jsonrepair(raw))
    } catch {
      const said = error instanceof Error ? error.message : String(error)
      return { ok: false, code: 'bad_json', reason: `The arguments are not valid JSON (${said}). Nothing ran. Send one JSON object.` }
    }
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ok: true, value }
  return { ok: false, code: 'invalid_arguments', reason: 'The arguments must be one JSON object. Nothing ran.' }
}

const issuesOf = (error: z.ZodError): string =>
  error.issues
    .slice(0, 5)
    .map((issue) => `${issue.path.length > 0 ? issue.path.join('.') : 'arguments'}: ${issue.message}.`)
    .join(' ')
