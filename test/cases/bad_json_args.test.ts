// Arguments as models really write them: one level too deep, cut, relaxed, empty. Each item is a call of a scripted model that goes through the loop;
// the tools are built from JSON Schemas, as those of strangers are.
import { describe, expect, it } from 'vitest'
import type { ToolMessage } from '../../src/shared/message'
import type { ModelEvent } from '../../src/main/models/model'
import { foreignTool, runThroughLoop } from '../support/foreign'
import { judge, type Json, loadCases } from './cases'

interface Input {
  readonly tools: Readonly<Record<string, { readonly effect: string; readonly parameters: Json }>>
  readonly tool: string
  readonly raw_arguments: string | null
  readonly finish_reason: string | null
}

const USAGE = {}
/** Words of servers for why an answer ended; `error`: the stream broke behind the call. */
const STOP_REASONS: Readonly<Record<string, 'stop' | 'calls' | 'length' | 'error'>> = {
  stop: 'stop',
  end_turn: 'stop',
  length: 'length',
  max_tokens: 'length',
  tool_calls: 'calls',
  tool_use: 'calls',
  function_call: 'calls',
  error: 'error'
}

async function play({ tools, tool, raw_arguments: raw, finish_reason: finish }: Input, turns: number) {
  const stopReason = STOP_REASONS[finish ?? 'tool_calls']
  if (!stopReason) throw new Error(`the runner cannot finish with "${String(finish)}"`)
  const ran: Json[] = []
  const made = Object.entries(tools).map(([name, { effect, parameters }]) =>
    foreignTool(name, parameters, effect === 'read' ? 'readonly' : effect === 'exec' ? 'exec' : 'write', (args) => {
      ran.push(args)
    })
  )
  let turn = 0
  const outcome = await runThroughLoop(made, async function* () {
    const calls = ++turn <= turns
    const call: ModelEvent = calls ? { type: 'call', name: tool, arguments: raw ?? '' } : { type: 'text', delta: 'Done.' }
    yield await Promise.resolve(call)
    if (stopReason !== 'error') yield { type: 'end', stopReason: calls ? stopReason : 'stop', usage: USAGE }
  })
  return { ...outcome, ran }
}

/** A null for a field that may be left out is dropped or kept. */
const withoutNulls = (value: Json): Json => Object.fromEntries(Object.entries(value).filter(([, v]) => v !== null))

/** Whether what must never happen did: an outcome by name, or a call with these arguments. */
function happened(outcome: unknown, ran: readonly Json[]): boolean {
  if (typeof outcome !== 'string') return ran.some((args) => JSON.stringify(args) === JSON.stringify(outcome))
  if (outcome === 'error_to_model') return ran.length === 0
  if (['executed', 'as_is', 'repaired', 'coerced', 'split'].includes(outcome)) return ran.length > 0
  throw new Error(`the runner cannot tell whether "${outcome}" happened`)
}

describe.each(loadCases<Input>('bad_json_args'))('$n', ({ note, input, expect: expected }) => {
  it(note, async () => {
    const { results, ran, cause } = await play(input, 1)
    const said = results.map((r: ToolMessage) => r.text).join('\n')
    const failed = ran.length === 0
    const acceptable = (expected['acceptable'] ?? []) as readonly string[]
    if (failed) expect(results.every((r) => r.code !== 'ok' && /Nothing ran/.test(r.text))).toBe(true)
    for (const outcome of [expected['never'] ?? []].flat()) expect(happened(outcome, ran), `never: ${JSON.stringify(outcome)}`).toBe(false)
    if (failed !== (expected['outcome'] === 'error_to_model') && acceptable.some((a) => a.startsWith('error_to_model') === failed)) return
    await judge(expected, {
      outcome: (outcome: string) => {
        expect(['as_is', 'repaired', 'coerced', 'split', 'error_to_model']).toContain(outcome)
        expect(failed, said).toBe(outcome === 'error_to_model')
        if (outcome === 'as_is' && input.raw_arguments?.trim()) expect(ran).toEqual([JSON.parse(input.raw_arguments)])
      },
      calls: (calls: readonly Json[]) => {
        expect(ran.map(withoutNulls)).toEqual(calls.map(withoutNulls))
      },
      executed: (times: number) => {
        expect(ran).toHaveLength(times)
      },
      never: () => undefined, // judged above, before what is acceptable
      executed_max: (times: number) => {
        expect(ran.length).toBeLessThanOrEqual(times)
      },
      error_mentions: (about: readonly string[]) => {
        for (const words of about) expect(said.toLowerCase()).toContain(words.toLowerCase())
      },
      tell_model_about: (about: readonly string[]) => {
        for (const words of about) expect(said.toLowerCase()).toContain(words.toLowerCase())
      },
      host_survives: () => {
        expect(cause).toEqual({ kind: 'natural' })
      },
      same_error_twice_stops_retrying: async () => {
        // a call that was repaired is no error; one that was not must not be asked for again and again
        if (failed) expect((await play(input, 50)).cause).toMatchObject({ kind: 'repetition' })
      }
    })
  })
})
