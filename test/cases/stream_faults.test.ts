// Streams as servers really send them: cut anywhere, framed oddly, ended without an end. A server on this machine plays each one to the product's own
// clients, and the loop runs what comes of it.
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import type { ModelInfo } from '../../src/shared/contract'
import { callsOf, textOf } from '../../src/shared/message'
import { openCloudModel } from '../../src/main/models/cloud'
import type { ModelEvent, ModelFault, StreamFn } from '../../src/main/models/model'
import { createChat } from '../../src/main/models/ollama/chat'
import { foreignTool, runThroughLoop } from '../support/foreign'
import { type RecordedServer, type Recording, serveRecording } from '../support/recorded-server'
import { judge, type Json, loadCases } from './cases'

interface Input {
  readonly protocol: string
  readonly http: Recording['http']
  readonly chunks: readonly { readonly t?: string; readonly b64?: string }[]
  readonly end: string
}

const open: RecordedServer[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

const INFO: ModelInfo = { id: 'x:m', name: 'm', source: 'ollama', tools: true, ready: true }
const IDLE_MS = 300

function streamFor(protocol: string, url: string): StreamFn {
  const cloud = {
    baseURL: `${url}/v1`,
    apiKey: () => Promise.resolve('key'),
    model: 'm',
    info: INFO,
    contextWindow: 8_192,
    idleMs: IDLE_MS
  }
  switch (protocol) {
    case 'ollama-ndjson':
      return createChat({
        model: 'm',
        window: 8_192,
        tools: true,
        phases: 'watched',
        connect: () => Promise.resolve({ ok: true, value: { baseUrl: url } }),
        limits: { idleMs: IDLE_MS }
      })
    case 'openai-sse':
      return openCloudModel({ ...cloud, kind: 'openai-compatible' }).stream
    case 'anthropic-sse':
      return openCloudModel({ ...cloud, kind: 'anthropic' }).stream
    default:
      throw new Error(`the runner does not speak "${protocol}"`)
  }
}

const ENDS: Readonly<Record<string, Recording['end']>> = {
  eof: 'eof',
  reset: 'reset',
  rst: 'reset',
  error: 'reset',
  abort: 'reset',
  open: 'open',
  hang: 'open',
  timeout: 'open',
  stall: 'open'
}
/** Names of errors in the cases → codes of ours. */
const CODES: Readonly<Record<string, readonly string[]>> = {
  stream_incomplete: ['incomplete_stream'],
  overloaded: ['busy'],
  rate_limited: ['busy'],
  not_an_api_response: ['bad_answer'],
  provider_error: ['crashed'],
  server_error: ['crashed'],
  invalid_response: ['bad_answer'],
  malformed_stream: ['bad_answer'],
  empty_response: ['incomplete_stream', 'empty_answer', 'bad_tool_output'],
  connection_lost: ['incomplete_stream', 'crashed'],
  idle_timeout: ['idle_timeout'],
  timeout: ['idle_timeout', 'first_token_timeout'],
  auth: ['refused'],
  context_overflow: ['context_overflow'],
  model_not_found: ['model_missing'],
  bad_request: ['bad_request'],
  quota: ['no_credit'],
  content_filter: ['filtered']
}
const NAMES = ['read_file', 'list_dir', 'search_text', 'write_file', 'run_shell', 'edit_file']

const bytesOf = ({ chunks }: Input): Buffer[] => chunks.map((c) => Buffer.from(c.b64 ?? c.t ?? '', c.b64 === undefined ? 'utf8' : 'base64'))

/** One answer through the loop: what the loop made of it, and what ran. A second request gets an end at once. */
async function play(input: Input, chunks = bytesOf(input), attempts = 1) {
  const end = ENDS[input.end]
  if (!end) throw new Error(`the runner cannot end with "${input.end}"`)
  const server = await serveRecording({ http: input.http, chunks, end })
  open.push(server)
  const stream = streamFor(input.protocol, server.url)
  const ran: Json[] = []
  const faults: ModelFault[] = []
  let asked = 0
  const stop = new AbortController()
  const tools = NAMES.map((name) => foreignTool(name, {}, 'write', (args) => void ran.push(args)))
  const outcome = await runThroughLoop(
    tools,
    async function* (request, signal) {
      asked++
      if (asked > 1) {
        yield { type: 'text', delta: 'Done.' }
        yield { type: 'end', stopReason: 'stop', usage: {} }
        return
      }
      for await (const event of stream(request, signal)) {
        if (event.type === 'error') faults.push(event.error)
        yield event satisfies ModelEvent
      }
    },
    {
      retry: { attempts, baseMs: 1, capMs: 1, longestMs: 60_000 },
      signal: stop.signal,
      onEvent: (event) => {
        // what is asked for is noted; a test does not wait for it
        if (event.type === 'retry')
          setImmediate(() => {
            stop.abort()
          })
      }
    }
  )
  const [answer] = outcome.answers
  // an answer without a word is the loop's to refuse
  const fault = faults[0] ?? (answer?.error && { ...answer.error, retryable: false })
  const retry = outcome.events.find((e) => e.type === 'retry')
  const thinking = answer?.parts.map((p) => (p.type === 'thinking' ? p.text : '')).join('') ?? ''
  const text = answer ? textOf(answer) : ''
  // a call that was cut is refused, and is none
  const cut = new Set(outcome.results.filter((r) => r.code === 'cut_off').map((r) => r.callId))
  const calls = (answer ? callsOf(answer) : []).filter((c) => !cut.has(c.id) || isJson(c.arguments))
  return { answer, fault, retry, text, thinking, calls, ran }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const FINISH: Readonly<Record<string, string>> = { stop: 'stop', tool_calls: 'calls', length: 'length', error: 'error' }

describe.each(loadCases<Input>('stream_faults'))('$n', ({ note, input, expect: expected }) => {
  it(note, async () => {
    const played = await play(input)
    const { answer, fault, text, thinking, calls, ran } = played
    for (const outcome of [expected['never'] ?? []].flat()) {
      if (outcome !== 'executed') throw new Error(`the runner cannot tell whether ${JSON.stringify(outcome)} happened`)
      expect(ran).toEqual([])
    }
    await judge(expected, {
      text: (wanted: string | null) => {
        if (wanted !== null) expect(text).toBe(wanted)
      },
      reasoning: (wanted: string | null) => {
        if (wanted !== null) expect(thinking).toBe(wanted)
      },
      tool_calls: (wanted: readonly { name: string; arguments: Json; id?: string }[]) => {
        expect(calls.map((c) => ({ name: c.name, arguments: JSON.parse(c.arguments || '{}') as Json }))).toEqual(
          wanted.map((c) => ({ name: c.name, arguments: c.arguments }))
        )
        for (const [i, { id }] of wanted.entries()) if (id !== undefined) expect(calls[i]?.id).toBe(id)
        // a call runs when the answer ended in order, and only then
        expect(ran).toEqual(answer?.stopReason === 'calls' ? wanted.map((c) => c.arguments) : [])
      },
      finish: (wanted: string) => {
        expect(answer?.stopReason, answer?.error?.message).toBe(FINISH[wanted])
      },
      usage: (wanted: { input?: number | null; output?: number | null; cached?: number | null }) => {
        if (wanted.input != null) expect(answer?.usage?.inputTokens).toBe(wanted.input)
        if (wanted.output != null) expect(answer?.usage?.outputTokens).toBe(wanted.output)
        if (wanted.cached != null) expect(answer?.usage?.cachedInputTokens).toBe(wanted.cached)
      },
      error: (wanted: ErrorExpected | null) => {
        if (wanted === null) expect(fault).toBeUndefined()
        else judgeError(fault, wanted, input)
      },
      executed_calls: (times: number) => {
        expect(ran).toHaveLength(times)
      },
      ids_unique: () => {
        expect(new Set(calls.map((c) => c.id)).size).toBe(calls.length)
      },
      must_not_contain: (texts: readonly string[]) => {
        for (const t of texts) expect(text + thinking).not.toContain(t)
      },
      partial_text_kept: () => {
        expect(text).not.toBe('')
        expect(answer?.stopReason).toBe('error')
      },
      user_sees: (words: string | readonly string[]) => {
        for (const w of [words].flat()) expect(answer?.error?.message.toLowerCase()).toContain(w.toLowerCase())
      },
      marked_interrupted: () => {
        expect(answer).toMatchObject({ stopReason: 'error', error: { code: fault?.code } })
      },
      auto_retry: async (wanted: boolean) => {
        expect((await play(input, undefined, 3)).retry !== undefined).toBe(wanted)
      },
      waits_at_least_s: async (seconds: number) => {
        const { retry } = await play(input, undefined, 3)
        expect(retry?.type === 'retry' && retry.waitMs).toBeGreaterThanOrEqual(seconds * 1_000)
      },
      never: () => undefined // judged above
    })
  })

  it('comes out the same however it is cut', async () => {
    if (input.end !== 'eof') return
    const whole = Buffer.concat(bytesOf(input))
    const seen = ({ answer, fault, text, thinking, calls, ran }: Awaited<ReturnType<typeof play>>): unknown => ({
      text,
      thinking,
      calls: calls.map((c) => [c.name, c.arguments]),
      ran,
      stop: answer?.stopReason,
      usage: [answer?.usage?.inputTokens, answer?.usage?.outputTokens],
      fault
    })
    const expectedOutcome = seen(await play(input, [whole]))
    const bytewise = [...whole].map((byte) => Buffer.of(byte))
    expect(seen(await play(input, bytewise))).toEqual(expectedOutcome)
    const places = fc.uniqueArray(fc.nat({ max: whole.length }), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(places, async (cuts) => {
        const edges = [0, ...cuts.toSorted((a, b) => a - b), whole.length]
        const pieces = edges.slice(1).map((to, i) => whole.subarray(edges[i], to))
        const cut = pieces.filter((p) => p.length > 0)
        expect(seen(await play(input, cut))).toEqual(expectedOutcome)
      }),
      { numRuns: 6 }
    )
  })
})

interface ErrorExpected {
  readonly class: string
  readonly retryable?: boolean
  readonly retry_after_s?: number
  readonly mentions?: readonly string[]
  readonly max_body_chars_shown?: number
}

function judgeError(fault: ModelFault | undefined, wanted: ErrorExpected, input: Input): void {
  for (const [key, value] of Object.entries(wanted)) {
    switch (key) {
      case 'class':
        expect(CODES[wanted.class], `the runner has no code for "${wanted.class}"`).toContain(fault?.code)
        break
      case 'retryable':
        expect(fault?.retryable).toBe(value)
        break
      case 'retry_after_s':
        expect(fault?.retryAfterMs).toBe(Number(value) * 1_000)
        break
      case 'mentions':
        for (const words of wanted.mentions ?? []) expect(fault?.message).toContain(words)
        break
      case 'max_body_chars_shown': {
        const body = Buffer.concat(bytesOf(input)).toString('utf8')
        expect(body.includes(fault?.message.slice(-Number(value) - 1, -1) ?? '')).toBe(false)
        break
      }
      default:
        throw new Error(`the runner has no check for "error.${key}"`)
    }
  }
}
