import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../../../src/main/models/model'
import { choose } from '../../../src/main/models/scripted/model'
import { parseScript, type Script } from '../../../src/main/models/scripted/script'
import type { Message } from '../../../src/shared/message'
import { scripted } from '../../support/harness'

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })
const said = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text }], model: 'm', stopReason: 'stop' })
const result = (code: string): Message => ({ role: 'tool', callId: 'c', name: 't', code, text: `it was ${code}`, durationMs: 0 })
const script = (text: string): Script => {
  const parsed = parseScript(text)
  if (!parsed.ok) throw new Error(parsed.message)
  return parsed.script
}
async function play(text: string, messages: Message[] = [user('hi')], signal = new AbortController().signal): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of scripted(text)({ system: '', messages, tools: [], maxOutputTokens: 1 }, signal)) events.push(event)
  return events
}
const textOf = (events: ModelEvent[]): string => events.map((e) => (e.type === 'text' ? e.delta : '')).join('')

describe('a script', () => {
  it('plays text, thinking and calls as written, lines and spaces included', async () => {
    const events = await play('think: Hm.\nsay: One  two\n\n  - three\ncall: peek {"a": [1,  2]}')
    expect(textOf(events)).toBe('One  two\n\n- three')
    expect(events).toContainEqual({ type: 'thinking', delta: 'Hm.' })
    expect(events).toContainEqual({ type: 'call', name: 'peek', arguments: '{"a": [1,  2]}' })
    expect(events.at(-1)).toMatchObject({ type: 'end', stopReason: 'calls' })
  })

  it('goes by the conversation alone: an answer a request, alternatives by result, scenes by the words of the person', () => {
    const tree = script(
      'say: 1\n---\nsay: 2\n--- after denied\nsay: no\n---\nrepeat\nsay: on and on\n=== when BRANCH\nsay: b1\n---\nsay: b2'
    )
    const plays = (...messages: Message[]): unknown => choose(tree, messages)[0]
    expect(plays(user('hi'))).toMatchObject({ text: '1' })
    expect(plays(user('hi'), said('1'), result('ok'))).toMatchObject({ text: '2' })
    expect(plays(user('hi'), said('1'), result('denied'))).toMatchObject({ text: 'no' })
    expect(plays(user('hi'), said('1'), said('2'), said('3'), said('4'))).toMatchObject({ text: 'on and on' })
    expect(plays(user('hi'), said('1'), user('a branch, please'))).toMatchObject({ text: 'b1' })
    expect(plays(user('branch'), said('b1'))).toMatchObject({ text: 'b2' })
    expect(plays(user('branch'), said('b1'), said('b2'))).toMatchObject({ text: '(The script ends here.)' })
  })

  it('plays faults: an error, a cut, a stream that vanishes, one that hangs until it is stopped', async () => {
    expect((await play('say: a\nfault: busy Later.')).at(-1)).toMatchObject({ type: 'error', error: { code: 'busy', message: 'Later.' } })
    expect((await play('say: a\ncut')).at(-1)).toMatchObject({ type: 'end', stopReason: 'length' })
    expect((await play('say: a\nvanish')).map((e) => e.type)).toEqual(['text'])
    expect((await play('say: a\nhang', undefined, AbortSignal.timeout(20))).at(-1)).toMatchObject({
      type: 'error',
      error: { code: 'aborted' }
    })
  })

  it('fills in the latest words and the latest result', async () => {
    expect(textOf(await play('say: {{user}} / {{result}}', [user('hello'), result('ok')]))).toBe('hello / it was ok')
  })

  it('streams words at the speed it was told', async () => {
    const start = performance.now()
    await play('speed: 100\nsay: a b c d e f g h i j')
    expect(performance.now() - start).toBeGreaterThan(80)
  })

  it.each([
    ['', 'empty'],
    ['shout: hi', 'Line 1: "shout: hi" is not a step'],
    ['say: a\n---\n  stray', 'Line 3'],
    ['pause: 3', 'Line 1: write "pause: 300ms"'],
    ['--- after denied', 'needs an answer above'],
    ['phase: warp', 'write "phase: loading 40%"'],
    ['fault: x', 'write "fault: CODE message"']
  ])('says which line is wrong: %j', (text, message) => {
    expect(parseScript(text)).toMatchObject({ ok: false, code: 'script_error', message: expect.stringContaining(message) as string })
  })

  it.each(['en', 'zh'])('of the guided tour is sound and shows a tool, a write and a branch (%s)', (language) => {
    const tour = script(readFileSync(`resources/tour/${language}.script`, 'utf8'))
    const calls = tour.scenes.flatMap((s) => s.answers).flatMap((a) => a.steps.flatMap((step) => (step.do === 'call' ? [step] : [])))
    expect(calls.map((c) => c.name)).toEqual(['list_dir', 'write_file'])
    for (const call of calls) expect(() => JSON.parse(call.arguments) as unknown).not.toThrow()
    expect(tour.scenes.map((s) => s.when)).toEqual([undefined, 'branch'])
  })
})
