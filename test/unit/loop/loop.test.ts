import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AnyHook, createHooks, type Verdict } from '../../../src/main/loop/hooks'
import { type LoopContext, type LoopEvent, type LoopInput, runLoop } from '../../../src/main/loop/loop'
import { createQueue } from '../../../src/main/loop/queue'
import { createRegistry, type Tool } from '../../../src/main/loop/tool'
import type { ModelEvent, ModelRequest, StreamFn, ToolSpec } from '../../../src/main/models/model'
import { callsOf, type Message, textOf, type UserMessage } from '../../../src/shared/message'
import type { StopCause } from '../../../src/shared/session'
import { bareHost } from '../../support/loop'
import { scripted } from '../../support/harness'

const user = (text: string): UserMessage => ({ role: 'user', parts: [{ type: 'text', text }] })
const tool = (name: string, execute: Tool['execute'], more: Partial<Tool> = {}): Tool => ({
  name,
  description: name,
  label: 'readonly',
  replay: 'safe',
  parameters: z.object({ n: z.number().optional() }),
  execute,
  ...more
})
const nap =
  (ms: number): Tool['execute'] =>
  async (_args, { signal }) => {
    await sleep(ms, undefined, { signal })
    return { code: 'ok', text: 'rested' }
  }

/** A context that sends everything it was told. */
function plainContext(first: Message, tools: readonly ToolSpec[]): LoopContext {
  const messages: Message[] = [first]
  return {
    add: (message) => void messages.push(message),
    request: () => ({ system: '', messages, tools, maxOutputTokens: 100 }),
    hasCall: (id) => messages.some((m) => callsOf(m).some((c) => c.id === id)),
    foreign: false
  }
}

interface Ran {
  cause: StopCause
  events: LoopEvent[]
  requests: ModelRequest[]
}
async function run(
  stream: StreamFn,
  tools: Tool[] = [],
  more: Partial<LoopInput> & { hookList?: AnyHook[]; after?: (e: LoopEvent) => void } = {}
): Promise<Ran> {
  const events: LoopEvent[] = []
  const requests: ModelRequest[] = []
  const registry = createRegistry(tools)
  const cause = await runLoop({
    ...bareHost,
    runId: 'r',
    model: 'm',
    stream: (request, signal) => {
      requests.push({ ...request, messages: [...request.messages] })
      return stream(request, signal)
    },
    context: plainContext(user('go'), registry.specs),
    retry: { attempts: 1, baseMs: 1, capMs: 1, longestMs: 1 },
    workspace: '/w',
    registry,
    hooks: createHooks(more.hookList ?? []),
    queue: createQueue(),
    inbox: { take: () => [] },
    signal: new AbortController().signal,
    emit: (event) => {
      events.push(event)
      more.after?.(event)
    },
    ...more
  })
  return { cause, events, requests }
}
const results = (ran: Ran): { code: string; text: string }[] =>
  ran.events.flatMap((e) => (e.type === 'tool_end' ? [{ code: e.result.code, text: e.result.text }] : []))
async function* stream(...events: ModelEvent[]): AsyncGenerator<ModelEvent> {
  for (const event of events) yield await Promise.resolve(event)
}
const twice = (calls: string): StreamFn => scripted(`${calls}\n---\nsay: Done.`)

describe('the loop', () => {
  it('asks, runs the calls, feeds the results back, and stops when nothing more is asked for', async () => {
    const ran = await run(twice('say: Look.\ncall: peek {"n": 1}'), [tool('peek', () => Promise.resolve({ code: 'ok', text: 'seen' }))])
    expect(ran.cause).toEqual({ kind: 'natural' })
    expect(ran.requests.map((r) => r.messages.map((m) => m.role))).toEqual([['user'], ['user', 'assistant', 'tool']])
    expect(ran.events.map((e) => e.type)).toEqual([
      ...['turn_start', 'message_start', 'message_update', 'message_end', 'tool_start', 'tool_dispatch', 'tool_end', 'turn_end'],
      ...['turn_start', 'message_start', 'message_update', 'message_end', 'turn_end']
    ])
  })

  it('ends tools as they come and hands their results over in call order', async () => {
    const ran = await run(twice('call: slow {}\ncall: fast {}'), [tool('slow', nap(60)), tool('fast', nap(5))])
    expect(ran.events.flatMap((e) => (e.type === 'tool_end' ? [e.result.name] : []))).toEqual(['fast', 'slow'])
    expect(ran.requests[1]?.messages.flatMap((m) => (m.role === 'tool' ? [m.name] : []))).toEqual(['slow', 'fast'])
  })

  it('keeps nothing: two runs from one input do the same', async () => {
    const script = twice('call: peek {}')
    const peek = tool('peek', () => Promise.resolve({ code: 'ok', text: 'seen' }))
    const strip = (r: Ran): unknown => r.events.map((e) => (e.type === 'tool_end' ? { ...e, result: { ...e.result, durationMs: 0 } } : e))
    const [a, b] = await Promise.all([run(script, [peek]), run(script, [peek])])
    expect(strip(a)).toEqual(strip(b))
  })

  it('gives every failing call one result that says what to do, and goes on', async () => {
    const tools = [
      tool('strict', () => Promise.resolve({ code: 'ok', text: '' }), { parameters: z.strictObject({ city: z.string().min(1) }) }),
      tool('boom', () => {
        throw new Error('')
      }),
      tool('slow', nap(5_000), { timeLimitMs: 20 })
    ]
    const calls = ['strct {}', 'strict {"town": 1}', 'strict {{{', 'strict [1]', 'boom {}', 'slow {}']
    const ran = await run(twice(calls.map((c) => `call: ${c}`).join('\n')), tools)
    const sorted = ran.requests[1]?.messages.flatMap((m) => (m.role === 'tool' ? [m] : []))
    expect(sorted?.map((m) => m.code)).toEqual(['unknown_tool', 'invalid_arguments', 'bad_json', 'invalid_arguments', 'threw', 'timeout'])
    expect(sorted?.[0]?.text).toContain('Did you mean strict?')
    expect(sorted?.[1]?.text).toMatch(/city.*expected string/)
    expect(sorted?.[4]?.text).toContain('no reason was given')
    expect(ran.cause).toEqual({ kind: 'natural' })
  })

  it('never runs a call that the token limit may have cut, though it parses', async () => {
    let ran = false
    const write = tool('write', () => {
      ran = true
      return Promise.resolve({ code: 'ok', text: '' })
    })
    const result = await run(twice('call: write {"n": 1}\ncut'), [write])
    expect(ran).toBe(false)
    expect(results(result)).toEqual([{ code: 'cut_off', text: expect.stringContaining('token limit') as string }])
  })

  it('makes call ids unique when the model repeats them or gives none', async () => {
    const call = (id?: string): ModelEvent => ({ type: 'call', name: 'peek', arguments: '{}', ...(id !== undefined && { id }) })
    const usage = { type: 'end', stopReason: 'calls', usage: {} } as const
    let n = 0
    const ran = await run(
      () =>
        n++ < 2
          ? stream(call('same'), call('same'), call(), usage)
          : stream({ type: 'text', delta: 'ok' }, { ...usage, stopReason: 'stop' }),
      [tool('peek', () => Promise.resolve({ code: 'ok', text: '' }))]
    )
    const ids = ran.events.flatMap((e) => (e.type === 'tool_start' ? [e.call.id] : []))
    expect(ids).toHaveLength(6)
    expect(new Set(ids).size).toBe(6)
  })

  it.each<[string, () => AsyncIterable<ModelEvent>, string]>([
    ['ends without a word', () => stream(), 'incomplete_stream'],
    ['says nothing', () => stream({ type: 'end', stopReason: 'stop', usage: {} }), 'empty_answer'],
    [
      'throws',
      () => {
        throw new Error('adapter bug')
      },
      'model_threw'
    ],
    [
      'fails',
      () => stream({ type: 'text', delta: 'Half' }, { type: 'error', error: { code: 'busy', message: 'later', retryable: true } }),
      'busy'
    ]
  ])('ends as an error with a code when the model %s, and keeps what was said', async (_what, model, code) => {
    const ran = await run(model)
    expect(ran.cause).toMatchObject({ kind: 'error', error: { code } })
    const said = ran.events.find((e) => e.type === 'message_end')
    expect(said?.message).toMatchObject({ role: 'assistant', stopReason: 'error', error: { code } })
  })

  it('takes the words of the person before the next request, and those for the end at the end', async () => {
    const waiting = { steer: ['turn left'], 'follow-up': ['and then?'] }
    const take = (_turn: number, atEnd: boolean): UserMessage[] =>
      waiting.steer
        .splice(0, 1)
        .concat(atEnd ? waiting['follow-up'].splice(0, 1) : [])
        .map(user)
    const ran = await run(
      scripted('call: peek {}\n---\nsay: One.\n---\nsay: Two.'),
      [tool('peek', () => Promise.resolve({ code: 'ok', text: '' }))],
      { inbox: { take } }
    )
    const words = (messages: readonly Message[] = []): string[] => messages.flatMap((m) => (m.role === 'user' ? [textOf(m)] : []))
    expect(ran.requests.map((r) => words(r.messages))).toEqual([
      ['go', 'turn left'],
      ['go', 'turn left'],
      ['go', 'turn left', 'and then?']
    ])
  })

  describe('when it is stopped', () => {
    const deaf = tool('deaf', () => new Promise(() => undefined))
    it.each<[string, StreamFn, Tool[], number]>([
      ['a tool that listens', twice('call: slow {}'), [tool('slow', nap(60_000))], 150],
      ['a tool that never ends', twice('call: deaf {}'), [deaf], 200],
      ['a model that hangs', scripted('hang'), [], 50],
      ['a model that does not listen', () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) }), [], 50]
    ])('is idle soon, whatever was going on: %s', async (_what, model, tools, limit) => {
      const stop = new AbortController()
      let stopped = 0
      setTimeout(() => {
        stopped = performance.now()
        stop.abort()
      }, 40)
      const ran = await run(model, tools, { signal: stop.signal })
      expect(performance.now() - stopped).toBeLessThan(limit + 100) // the rest is the machine's; the figure itself is a bench row
      expect(ran.cause).toEqual({ kind: 'aborted' })
      expect(ran.requests).toHaveLength(1)
      expect(results(ran).map((r) => r.code)).toEqual(tools.length > 0 ? ['aborted'] : [])
    })

    it('drops the late result of a tool that was given up, and says so', async () => {
      const stop = new AbortController()
      const late = tool('late', () => sleep(250).then(() => ({ code: 'ok', text: 'too late' })))
      setTimeout(() => {
        stop.abort()
      }, 10)
      const ran = await run(twice('call: late {}'), [late], { signal: stop.signal })
      await sleep(300)
      expect(results(ran).map((r) => r.code)).toEqual(['aborted'])
      expect(ran.events.at(-1)).toMatchObject({ type: 'tool_late' })
    })
  })

  describe('hooks', () => {
    const peek = tool('peek', () => Promise.resolve({ code: 'ok', text: 'secret 42' }))
    it('may block a call with a reason that the model reads, and end the run with it', async () => {
      const gate: AnyHook = {
        point: 'tool.start',
        name: 'no',
        kind: 'gate',
        run: () => ({ kind: 'block', code: 'blocked', reason: 'Not on Sundays.', stop: { kind: 'terminated', by: 'no' } })
      }
      const ran = await run(twice('call: peek {}'), [peek], { hookList: [gate] })
      expect(results(ran)).toEqual([{ code: 'blocked', text: 'Not on Sundays.' }])
      expect(ran.cause).toEqual({ kind: 'terminated', by: 'no' })
      expect(ran.requests).toHaveLength(1)
    })

    it('may rewrite a request, an answer and a result', async () => {
      const hookList: AnyHook[] = [
        { point: 'tool.end', name: 'mask', kind: 'gate', run: ({ result }) => ({ ...result, text: 'secret **' }) },
        { point: 'model.start', name: 'add', kind: 'gate', run: ({ request }) => ({ ...request, system: 'Be kind.' }) },
        {
          point: 'model.end',
          name: 'sign',
          kind: 'gate',
          run: ({ message }) => ({ ...message, parts: [...message.parts, { type: 'text', text: ' (signed)' }] })
        }
      ]
      const ran = await run(twice('call: peek {}'), [peek], { hookList })
      expect(results(ran)[0]?.text).toBe('secret **')
      expect(ran.requests.map((r) => r.system)).toEqual(['Be kind.', 'Be kind.'])
      expect(ran.events.findLast((e) => e.type === 'message_end')?.message).toMatchObject({
        parts: [{ text: 'Done.' }, { text: ' (signed)' }]
      })
    })

    it('may end the run before a turn, after an answer and after a turn, losing nothing that was said', async () => {
      const enough: Verdict = { kind: 'stop', cause: { kind: 'terminated', by: 'enough' } }
      for (const point of ['turn.start', 'model.end', 'turn.end', 'trace.start', 'model.start'] as const) {
        const hookList: AnyHook[] = [{ point, name: 'enough', kind: 'gate', run: () => enough }]
        const ran = await run(scripted('say: Hello.'), [], { hookList })
        expect(ran.cause, point).toEqual({ kind: 'terminated', by: 'enough' })
        expect(
          ran.events.some((e) => e.type === 'message_end'),
          point
        ).toBe(point === 'model.end' || point === 'turn.end')
      }
    })
  })

  it('ends as an error when what it says cannot be stored', async () => {
    const ran = await run(scripted('say: Hello.'), [], {
      emit: () => {
        throw new Error('disk full')
      }
    })
    expect(ran.cause).toMatchObject({
      kind: 'error',
      error: { code: 'host_error', message: expect.stringContaining('disk full') as string }
    })
  })
})
