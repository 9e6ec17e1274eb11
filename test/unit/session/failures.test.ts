// Sixty ways in which a call can go wrong, by kind. Each must reach the model as exactly one result, with a code and a reason that it can act on,
// and none may end the run, hold it, or leave a history that a provider refuses (spec T3). The first twenty are those of the articles.
import { setTimeout as sleep } from 'node:timers/promises'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Tool, ToolOutput } from '../../../src/main/loop/tool'
import type { ModelEvent, ModelRequest, StreamFn } from '../../../src/main/models/model'
import { outputFiles } from '../../../src/main/store/outputs'
import { callsOf } from '../../../src/shared/message'
import { freshFolder, type Harness, openHarness, say, waitFor } from '../../support/harness'
import { allTools } from '../../support/built-in'

const open: Harness[] = []
afterEach(async () => {
  for (const h of open.splice(0)) await h.close()
})

const ok = (text = 'ok'): Promise<ToolOutput> => Promise.resolve({ code: 'ok', text })
const tool = (name: string, execute: Tool['execute'], more: Partial<Tool> = {}): Tool => ({
  name,
  description: name,
  label: 'readonly',
  replay: 'safe',
  parameters: z.looseObject({}),
  execute,
  ...more
})
const fails =
  (value: unknown): Tool['execute'] =>
  () => {
    throw value
  }
class Odd {
  toString(): string {
    return 'an odd thing'
  }
}
const circular: { self?: unknown } = {}
circular.self = circular

const TOOLS: Tool[] = [
  ...allTools(outputFiles(freshFolder('outputs'), Date.now)),
  tool('weather', () => ok('mild'), { parameters: z.strictObject({ city: z.string().min(1), days: z.int().min(1).max(7).optional() }) }),
  tool('send', () => ok('sent'), { parameters: z.object({ to: z.email(), tags: z.array(z.enum(['a', 'b'])).optional() }) }),
  tool('throw_error', fails(new Error('disk is on fire'))),
  tool('throw_empty', fails(new Error(''))),
  tool('throw_string', fails('a bare string')),
  tool('throw_null', fails(null)),
  tool('throw_odd', fails(new Odd())),
  tool('throw_type', () => (undefined as unknown as { length: { x: number } }).length.x as never),
  tool('throw_cause', fails(new Error('outer', { cause: new Error('inner') }))),
  tool('throw_late', async () => {
    await sleep(5)
    throw new Error('late trouble')
  }),
  // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- what a careless tool does
  tool('reject_undefined', () => Promise.reject(undefined)),
  tool('throw_abort', fails(new DOMException('The operation was aborted', 'AbortError'))),
  tool('nothing', () => Promise.resolve(undefined as unknown as ToolOutput)),
  tool('no_text', () => Promise.resolve({ code: 'ok' } as ToolOutput)),
  tool('number_text', () => Promise.resolve({ code: 'ok', text: 42 } as unknown as ToolOutput)),
  tool('circular', () => Promise.resolve({ code: 'ok', text: circular } as unknown as ToolOutput)),
  tool('empty', () => ok('')),
  tool('huge', () => ok('x'.repeat(300_000))),
  tool('odd_characters', () => ok('zip\u0000\u0003 half \ud83d')),
  tool('own_code', () => Promise.resolve({ code: 'not_found', text: 'There is no such page.' })),
  tool('never_ends', () => new Promise(() => undefined), { timeLimitMs: 30 }),
  tool('slow', () => sleep(5_000).then(() => ok()), { timeLimitMs: 30 }),
  tool('slow_listening', async (_a, { signal }) => sleep(5_000, ok(), { signal }), { timeLimitMs: 30 }),
  tool(
    'slow_throwing',
    async (_a, { signal }) => {
      await sleep(5_000, undefined, { signal }).catch(() => undefined)
      throw new Error('too late to complain')
    },
    { timeLimitMs: 30 }
  ),
  tool(
    'slow_flooding',
    async (_a, { progress }) => {
      for (let i = 0; i < 2_000; i++) progress({ done: i })
      return new Promise(() => undefined)
    },
    { timeLimitMs: 30 }
  ),
  tool('preview_throws', () => ok(), {
    label: 'write',
    preview: () => {
      throw new Error('cannot look')
    }
  }),
  tool('preview_refuses', () => ok(), {
    label: 'write',
    preview: () => Promise.resolve({ refuse: { code: 'not_a_file', text: 'That is a folder.' } })
  })
]

interface Case {
  readonly call: { readonly name: string; readonly arguments?: string }
  readonly code: string
  /** What the reason must speak of. */
  readonly says: RegExp
}
const c = (name: string, args: string | undefined, code: string, says: RegExp): Case => ({
  call: { name, ...(args !== undefined && { arguments: args }) },
  code,
  says
})

const KINDS: Readonly<Record<string, Case[]>> = {
  'an unknown tool (articles 1–5)': [
    c('nope', '{}', 'unknown_tool', /no tool called "nope".*tools are/s),
    c('Weather', '{"city":"Bern"}', 'unknown_tool', /Did you mean weather\?/),
    c('weather ', '{}', 'unknown_tool', /Did you mean weather\?/),
    c('mcp__x__y', '{}', 'unknown_tool', /no tool called/),
    c('', '{}', 'unknown_tool', /no tool called ""/)
  ],
  'arguments that do not fit (articles 6–10)': [
    c('weather', '{}', 'invalid_arguments', /city/),
    c('weather', '{"city":5}', 'invalid_arguments', /city.*string/),
    c('weather', '{"city":""}', 'invalid_arguments', /city/),
    c('weather', '{"city":"Bern","days":9}', 'invalid_arguments', /days.*7/),
    c('weather', '{"city":"Bern","planet":"Mars"}', 'invalid_arguments', /planet/)
  ],
  'a tool that throws (articles 11–15)': [
    c('throw_error', '{}', 'threw', /disk is on fire/),
    c('throw_string', '{}', 'threw', /a bare string/),
    c('throw_type', '{}', 'threw', /undefined/),
    c('throw_cause', '{}', 'threw', /outer/),
    c('throw_empty', '{}', 'threw', /no reason was given/)
  ],
  'a tool that takes too long (articles 16–20)': [
    c('slow', '{}', 'timeout', /30 ms.*part of its effect/),
    c('slow_listening', '{}', 'timeout', /30 ms/),
    c('never_ends', '{}', 'timeout', /30 ms/),
    c('slow_throwing', '{}', 'timeout', /30 ms/),
    c('slow_flooding', '{}', 'timeout', /30 ms/)
  ],
  'arguments that are no JSON object (21–28)': [
    c('weather', '{{{', 'bad_json', /not valid JSON.*Nothing ran/s),
    c('weather', '[1,2]', 'invalid_arguments', /one JSON object/),
    c('weather', '"Bern"', 'invalid_arguments', /one JSON object/),
    c('weather', 'null', 'invalid_arguments', /one JSON object/),
    c('weather', '42', 'invalid_arguments', /one JSON object/),
    c('weather', undefined, 'invalid_arguments', /city/),
    c('weather', '   ', 'invalid_arguments', /city/),
    c('weather', '{"city": "Bern", "days": }', 'bad_json', /a field has no value/)
  ],
  'arguments of the wrong shape inside (29–34)': [
    c('send', '{"to":"nobody"}', 'invalid_arguments', /to/),
    c('send', '{"to":"a@b.ch","tags":"a"}', 'invalid_arguments', /tags/),
    c('send', '{"to":"a@b.ch","tags":["z"]}', 'invalid_arguments', /tags/),
    c('send', '{"to":["a@b.ch"]}', 'invalid_arguments', /to/),
    c('weather', '{"city":{"name":"Bern"}}', 'invalid_arguments', /city/),
    c('weather', '{"city":"Bern","days":1.5}', 'invalid_arguments', /days/)
  ],
  'a tool that fails in odd ways (35–41)': [
    c('throw_null', '{}', 'threw', /null/),
    c('throw_odd', '{}', 'threw', /an odd thing/),
    c('throw_late', '{}', 'threw', /late trouble/),
    c('reject_undefined', '{}', 'threw', /undefined/),
    c('throw_abort', '{}', 'threw', /aborted/),
    c('own_code', '{}', 'not_found', /no such page/),
    c('odd_characters', '{}', 'ok', /zip.*half/s)
  ],
  'a tool that gives back what it must not (42–47)': [
    c('nothing', '{}', 'threw', /gave back|no output|nothing/i),
    c('no_text', '{}', 'threw', /gave back|text/i),
    c('number_text', '{}', 'threw', /gave back|text/i),
    c('circular', '{}', 'threw', /gave back|text/i),
    c('huge', '{}', 'ok', /cut: \d+ more characters/),
    c('empty', '{}', 'ok', /^$/)
  ],
  'a place that must not be reached (48–53)': [
    c('read_file', '{"path":"../secret"}', 'rule', /rule forbids.*Nothing ran/),
    c('read_file', '{"path":"/etc/passwd"}', 'rule', /rule forbids.*only at home/),
    c('list_dir', '{"path":"link-out"}', 'rule', /rule forbids/),
    c('read_file', '{"path":"link-out/passwd"}', 'rule', /rule forbids/),
    c('read_file', '{"path":"missing.txt"}', 'not_found', /missing\.txt/),
    c('read_file', '{"path":"folder"}', 'is_directory', /folder/)
  ],
  'a question that cannot be asked or is refused (54–57)': [
    c('preview_throws', '{}', 'gate_failed', /approval.*not allowed/s),
    c('preview_refuses', '{}', 'not_a_file', /That is a folder/),
    c('write_file', '{"path":"../x","content":""}', 'outside_workspace', /outside/),
    c('write_file', '{"path":"folder","content":""}', 'is_directory', /folder/)
  ]
}

/** A model that makes the calls, and then answers. */
function asking(calls: readonly Case['call'][], requests: ModelRequest[], end: ModelEvent): StreamFn {
  return async function* (request): AsyncGenerator<ModelEvent> {
    requests.push({ ...request, messages: [...request.messages] })
    if (requests.length === 1) {
      for (const { name, arguments: args } of calls) yield { type: 'call', name, arguments: args ?? '' }
      yield end
      return
    }
    yield await Promise.resolve({ type: 'text', delta: 'I see.' })
    yield { type: 'end', stopReason: 'stop', usage: {} }
  }
}
const END: ModelEvent = { type: 'end', stopReason: 'calls', usage: {} }

function harness(calls: readonly Case['call'][], end: ModelEvent = END): { h: Harness; requests: ModelRequest[] } {
  const requests: ModelRequest[] = []
  const h = openHarness(asking(calls, requests, end), { tools: TOOLS })
  open.push(h)
  mkdirSync(join(h.workspace, 'folder'))
  writeFileSync(join(h.workspace, 'a.txt'), 'hello')
  symlinkSync('/etc', join(h.workspace, 'link-out'))
  const rules = ['/etc/**', '/etc', join(h.workspace, '../secret')].map((path) => ({ verdict: 'deny', path, note: 'only at home' }))
  writeFileSync(join(h.home, 'policy.json'), JSON.stringify({ rules }))
  return { h, requests }
}
function expectValid({ messages }: ModelRequest): void {
  for (const [i, m] of messages.entries()) {
    const results = messages.slice(i + 1, i + 1 + callsOf(m).length).map((r) => (r.role === 'tool' ? r.callId : r.role))
    expect(results).toEqual(callsOf(m).map((call) => call.id))
  }
}

describe.each(Object.entries(KINDS))('%s', (_kind, cases) => {
  it.each(cases)('$call.name $call.arguments', async ({ call, code, says }) => {
    const { h, requests } = harness([call, { name: 'list_dir', arguments: '{}' }])
    const session = h.session()
    await say(session, 'go')
    expect(session.info.state).toBe('completed')
    expect(requests).toHaveLength(2)
    const [, second] = requests
    const results = second?.messages.flatMap((m) => (m.role === 'tool' ? [m] : [])) ?? []
    expect(results.map((r) => r.code)).toEqual([code, 'ok'])
    const stored = [...h.store.entries.all(session.info.id)].flatMap((e) =>
      e.type === 'message' && e.message.role === 'tool' ? [e.message] : []
    )
    expect(stored[0]?.text).toMatch(says)
    if (second) expectValid(second)
  })
})

describe('what befalls a whole message (58–60)', () => {
  it('58: the token limit cuts it: none of its calls runs', async () => {
    const { h, requests } = harness([{ name: 'weather', arguments: '{"city":"Bern"}' }], { type: 'end', stopReason: 'length', usage: {} })
    await say(h.session(), 'go')
    expect(requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', code: 'cut_off' })
  })
  it('59: the person stops it: what ran says so, and nothing is asked for any more', async () => {
    const { h, requests } = harness([{ name: 'slow', arguments: '{}' }])
    const session = h.session()
    const run = say(session, 'go')
    await waitFor(session, 'tool_dispatch')
    session.stop()
    await run
    expect([requests.length, session.info.state]).toEqual([1, 'cancelled'])
    expect(session.snapshot().entries.at(-1)).toMatchObject({ message: { role: 'tool', code: 'aborted' } })
  })
  it('60: the person denies it, with a reason', async () => {
    const { h, requests } = harness([{ name: 'write_file', arguments: '{"path":"b.txt","content":"x"}' }])
    const session = h.session()
    const run = say(session, 'go')
    const { approval } = await waitFor(session, 'approval_request')
    await session.answer(approval.id, { kind: 'deny', reason: 'Use c.txt.' })
    await run
    expect(requests[1]?.messages.at(-1)).toMatchObject({
      role: 'tool',
      code: 'denied',
      text: expect.stringContaining('Use c.txt.') as string
    })
  })
})

it('there are sixty of them', () => {
  expect(Object.values(KINDS).reduce((sum, cases) => sum + cases.length, 3)).toBe(60)
})
