// From text to a value: as it is where that is JSON, else repaired where the repair cannot change what was meant (spec T4).
import { jsonrepair } from 'jsonrepair'
import { findTrouble } from './inspect'
import { readRelaxed } from './relaxed'

export type Parsed =
  | { readonly ok: true; readonly value: unknown }
  /** The text ends in the middle: what is missing is unknown. */
  | { readonly ok: false; readonly code: 'cut_off' }
  | { readonly ok: false; readonly code: 'bad_json'; readonly reason: string }

/** Longer ones are refused: nothing that a model writes in one answer is. */
const MAX_CHARS = 16_000_000
const MAX_REPAIR_CHARS = 1_000_000

/** `closes`: whether a last brace that is all that is missing may be added. Only for calls without effect. */
export function parseText(raw: string, closes: boolean): Parsed {
  const text = raw.replace(/^\uFEFF/, '').trim()
  if (text === '') return { ok: true, value: {} } // many models send nothing for a tool that needs nothing
  if (text.length > MAX_CHARS) return { ok: false, code: 'bad_json', reason: `they are longer than ${String(MAX_CHARS)} characters` }
  let said: string
  try {
    return checked(text, parseSafely(text))
  } catch (error) {
    said = reasonOf(error)
  }
  if (text.length > MAX_REPAIR_CHARS) return { ok: false, code: 'bad_json', reason: said }
  try {
    return repair(text, closes)
  } catch (error) {
    return { ok: false, code: 'bad_json', reason: error instanceof Ambiguous ? error.message : said }
  }
}

class Ambiguous extends Error {}

/** Throws where there is no one way to read it. */
function repair(text: string, closes: boolean): Parsed {
  const inner = unescaped(withoutExtraBraces(withoutWrapping(text)))
  const found = readRelaxed(inner)
  if (!found.ok && found.why === 'ambiguous') throw new Ambiguous(found.reason)
  const safe = found.ok ? found.text : closes ? found.closed : undefined
  if (safe === undefined) return { ok: false, code: 'cut_off' }
  const repaired = jsonrepair(safe)
  return checked(repaired, parseSafely(repaired))
}

const checked = (text: string, value: unknown): Parsed => {
  const trouble = findTrouble(text)
  return trouble === undefined ? { ok: true, value } : { ok: false, code: 'bad_json', reason: trouble }
}

/** Keys that would reach an object's prototype when a handler copies fields are left out (https://cwe.mitre.org/data/definitions/1321.html). */
function parseSafely(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (!/__proto__|constructor|\\u/.test(text) || findTrouble(text) !== undefined) return value
  return JSON.parse(text, (key, item: unknown) => {
    const reaches = key === '__proto__' || (key === 'constructor' && typeof item === 'object' && item !== null && 'prototype' in item)
    return reaches ? undefined : item
  })
}

/** Without a code fence, and without tags before it: those behind it are let be by the reader. */
const withoutWrapping = (text: string): string =>
  (/^```\w*\s*([\s\S]*?)\s*(```)?$/.exec(text)?.[1] ?? text).replace(/^(<[^<>{}]*>\s*)+/, '')

/** `{{"a": 1}}` is never JSON; models that are told so add one more pair. */
function withoutExtraBraces(text: string): string {
  let inner = text
  while (/^\{\s*\{/.test(inner) && /\}\s*\}$/.test(inner)) inner = inner.slice(1, -1).trim()
  return inner
}

/** `{\"a\": 1}`: the text is what stands inside a JSON string. */
function unescaped(text: string): string {
  if (!/^\{\s*\\"/.test(text)) return text
  try {
    return String(JSON.parse(`"${text}"`))
  } catch {
    return text
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
