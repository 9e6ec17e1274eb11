import { describe, expect, it } from 'vitest'
import type { StreamFn } from '../../../src/main/models/model'
import { foreignTool, runThroughLoop } from '../../support/foreign'

/** A model that sends these arguments, one call a turn, and then ends. */
function sends(...calls: string[]): StreamFn {
  let turn = 0
  return async function* () {
    const args = calls[turn++]
    yield await Promise.resolve(
      args === undefined ? ({ type: 'text', delta: 'Done.' } as const) : ({ type: 'call', name: 'save', arguments: args } as const)
    )
    yield { type: 'end', stopReason: 'stop', usage: {} }
  }
}
const results = async (...calls: string[]): Promise<string[]> => {
  const { results: found } = await runThroughLoop([foreignTool('save', {}, 'write', () => undefined)], sends(...calls))
  return found.map((r) => (r.code === 'ok' ? 'ok' : `${r.code}${r.text.includes('second try') ? ', for good' : ''}`))
}

describe('a call that cannot be read', () => {
  it('may be sent again once, with what the parser said', async () => {
    expect(await results('{"a": say "x"}', '{"a": 1}')).toEqual(['bad_json', 'ok'])
    expect(await results('{"a": say "x"}', '{"a": say "y"}', '{"a": "z')).toEqual(['bad_json', 'bad_json, for good', 'cut_off, for good'])
  })
  it('may be so anew after one that could be', async () => {
    expect(await results('{"a": x y}', '{}', '{"a": x y}')).toEqual(['bad_json', 'ok', 'bad_json'])
  })
  it('ends the run when it is sent again and again', async () => {
    const { cause, events } = await runThroughLoop(
      [foreignTool('save', {}, 'write', () => undefined)],
      sends(...Array.from({ length: 50 }, () => '{"a": x y}'))
    )
    expect(cause.kind).toBe('repetition')
    expect(events.filter((e) => e.type === 'turn_start').length).toBeLessThanOrEqual(10)
  })
})
