// Histories that providers refused, and what must be sent instead. Each is stored as it was, and a real session makes the request.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Tool } from '../../src/main/loop/tool'
import type { ModelEvent, ModelRequest, StreamFn } from '../../src/main/models/model'
import { estimateMessage, estimateTokens } from '../../src/main/session/context/estimate'
import type { SessionHandle } from '../../src/main/session/session'
import { newId } from '../../src/main/store/id'
import { type AssistantMessage, callsOf, type Message, textOf, type UserMessage } from '../../src/shared/message'
import type { Entry } from '../../src/shared/session'
import { eventsOf, type Harness, openHarness, waitFor } from '../support/harness'
import { type Item, judge, loadCases } from './cases'

interface Part {
  readonly text?: string
  readonly text_gen?: { readonly label: string; readonly approx_tokens: number }
  readonly call?: { readonly id: string; readonly name: string; readonly arguments: unknown }
  readonly result?: { readonly call_id: string; readonly text?: string; readonly text_gen?: Part['text_gen'] }
  readonly image?: { readonly mime: string; readonly b64: string }
  readonly thinking?: { readonly text: string }
}
interface Line {
  readonly id: string
  readonly role?: 'user' | 'assistant' | 'tool' | 'compaction'
  readonly parts?: readonly Part[]
  readonly parent?: string
  readonly keeps_from?: string
  readonly event?: string
}
interface Input {
  readonly history: readonly Line[]
  readonly target: { readonly window_tokens: number; readonly vision: boolean; readonly tool_name_pattern?: string }
  readonly tool_names?: readonly string[]
  readonly model_then_calls?: string
}

const open: Harness[] = []
afterEach(async () => {
  for (const h of open.splice(0)) await h.close()
})

describe.each(loadCases<Input>('context'))('$n', (item) => {
  it(item.note, async () => {
    const streaming = item.input.history.find((l) => l.event?.includes('streaming'))
    if (streaming) await judge(item.expect, await playStreaming())
    else await judge(item.expect, await playStored(item))
  })
})

const generated = ({ label, approx_tokens }: NonNullable<Part['text_gen']>): string =>
  `${label} `.repeat(Math.ceil((approx_tokens * 4) / (label.length + 1)))
const wordsOf = (part: Part): string => part.text ?? (part.text_gen ? generated(part.text_gen) : '')

function messageOf({ role, parts = [] }: Line): Message | undefined {
  if (role === 'user') {
    const said = parts.map((p): UserMessage['parts'][number] =>
      p.image ? { type: 'image', mime: p.image.mime, data: p.image.b64 } : { type: 'text', text: wordsOf(p) }
    )
    return { role: 'user', parts: said }
  }
  if (role === 'tool') {
    const result = parts[0]?.result
    const text = result?.text ?? (result?.text_gen ? generated(result.text_gen) : '')
    return { role: 'tool', callId: result?.call_id ?? '', name: '', code: 'ok', text, durationMs: 1 }
  }
  if (role !== 'assistant') return undefined
  const said = parts.map((p): AssistantMessage['parts'][number] =>
    p.call
      ? { type: 'call', id: p.call.id, name: p.call.name, arguments: JSON.stringify(p.call.arguments) }
      : p.thinking
        ? { type: 'thinking', text: p.thinking.text }
        : { type: 'text', text: wordsOf(p) }
  )
  const stopReason = said.length === 0 ? 'error' : said.some((p) => p.type === 'call') ? 'calls' : 'stop'
  return { role: 'assistant', parts: said, model: 'scripted:test', stopReason }
}

/** Stores the history under fresh ids; the ids of the case lead to what was stored. */
function store(h: Harness, session: SessionHandle, history: readonly Line[]): Map<string, Entry> {
  const entries = new Map<string, Entry>()
  const names = new Map(history.flatMap((l) => l.parts ?? []).flatMap((p) => (p.call ? [[p.call.id, p.call.name] as const] : [])))
  let last: string | null = null
  for (const line of history) {
    const branch = line.parent === undefined ? undefined : entries.get(line.parent)?.id
    const parentId: string | null = branch ?? last
    const node: Pick<Entry, 'id' | 'sessionId' | 'parentId' | 'at'> = { id: newId(), sessionId: session.info.id, parentId, at: 1 }
    const message = messageOf(line)
    if (message?.role === 'tool') message.name = names.get(message.callId) ?? ''
    let entry: Entry | undefined
    if (message) entry = { ...node, type: 'message', message }
    else if (line.role === 'compaction') {
      const keepsFrom = line.keeps_from === undefined ? null : (entries.get(line.keeps_from)?.id ?? line.keeps_from)
      entry = { ...node, type: 'compaction', summary: (line.parts ?? []).map(wordsOf).join(''), keepsFrom }
    }
    if (!entry) continue
    h.store.entries.add(entry)
    h.store.sessions.setHead(session.info.id, entry.id)
    entries.set(line.id, entry)
    last = entry.id
  }
  return entries
}

const toolNamed = (name: string, ran: string[]): Tool => ({
  name,
  description: name,
  label: 'readonly',
  replay: 'safe',
  parameters: z.looseObject({}),
  execute: async () => {
    ran.push(name)
    await sleep(20)
    return { code: 'ok', text: 'ok' }
  }
})

async function playStored({ input }: Item<Input>): Promise<Record<string, (value: never) => unknown>> {
  const { history, target, tool_names: given = [] } = input
  const requests: ModelRequest[] = []
  const ran: string[] = []
  const wants = input.model_then_calls === undefined ? undefined : /name of (\S+)$/.exec(input.model_then_calls)?.[1]
  const running = history.some((l) => l.event !== undefined)
  const runningCall = running ? history.flatMap((l) => l.parts ?? []).find((p) => p.call)?.call : undefined
  const stream: StreamFn = async function* (request): AsyncGenerator<ModelEvent> {
    requests.push({ ...request, messages: [...request.messages] })
    const first = requests.length === 1
    const mapped = wants === undefined ? undefined : request.tools.find((t) => t.description === wants)?.name
    if (first && runningCall)
      yield { type: 'call', id: runningCall.id, name: runningCall.name, arguments: JSON.stringify(runningCall.arguments) }
    else if (first && mapped !== undefined) yield { type: 'call', name: mapped, arguments: '{}' }
    else yield await Promise.resolve({ type: 'text', delta: 'Fine.' })
    yield { type: 'end', stopReason: 'stop', usage: {} }
  }
  const tools = [...new Set([...given, ...(runningCall ? [runningCall.name] : [])])].map((name) => toolNamed(name, ran))
  const length = Number(/,(\d+)\}/.exec(target.tool_name_pattern ?? '')?.[1] ?? 64)
  const h = openHarness(stream, {
    tools,
    window: target.window_tokens,
    vision: target.vision,
    ...(target.tool_name_pattern !== undefined && { toolNames: { pattern: new RegExp(target.tool_name_pattern), length } })
  })
  open.push(h)
  const created = h.session()
  // a call that is running is made by the session itself: what came before it is stored
  const stored = store(h, created, runningCall ? history.filter((l) => l.role === 'user') : history)
  const before = new Map([...stored].map(([id, entry]) => [id, JSON.stringify(h.store.entries.find(created.info.id, entry.id))]))
  const session = h.reopen(created)
  const started = await session.retry()
  if (!started.ok) throw new Error(started.message)
  await session.waitForIdle()
  const [request] = requests
  if (!request) throw new Error('no request was made')
  const { messages } = request
  const last = requests.at(-1)?.messages ?? messages

  const texts = messages.map(textOf)
  const said = texts.join('\n')
  const kept = (id: string): boolean => {
    const entry = stored.get(id)
    if (entry?.type === 'compaction') return said.includes(entry.summary)
    if (entry?.type !== 'message') return false
    const { message } = entry
    if (message.role === 'tool') return messages.some((m) => m.role === 'tool' && m.callId === message.callId)
    const calls = callsOf(message)
    if (calls.length > 0) return calls.every((c) => messages.some((m) => callsOf(m).some((x) => x.id === c.id)))
    return textOf(message).trim() !== '' && said.includes(textOf(message).slice(0, 200))
  }
  const expectAll = (properties: readonly string[], list: readonly Message[]): void => {
    for (const property of properties) {
      const check = PROPERTIES[property]
      if (!check) throw new Error(`the runner has no property "${property}"`)
      check(list, { ...request, messages: list }, target.window_tokens)
    }
  }
  const namesIn = messages.flatMap((m) => (m.role === 'tool' ? [m.name] : callsOf(m).map((c) => c.name)))
  const toolNames = request.tools.map((t) => t.name)
  return {
    properties: (value: string[]) => {
      expectAll(value, messages)
    },
    after_result: (value: string[]) => {
      expect(requests.length).toBeGreaterThan(1)
      expectAll(value, last)
    },
    must_keep: (ids: string[]) => {
      expect(ids.filter((id) => !kept(id))).toEqual([])
    },
    must_keep_text: (words: string[]) => {
      for (const word of words) expect(said).toContain(word)
    },
    must_keep_call: (ids: string[]) => {
      for (const id of ids) expect(messages.some((m) => callsOf(m).some((c) => c.id === id))).toBe(true)
    },
    must_drop: (ids: string[]) => {
      const gone = ids.map((id) => stored.get(id)).filter((e) => e?.type === 'message' && e.message.role === 'assistant')
      const all = [...stored.values()].filter((e) => e.type === 'message' && e.message.role === 'assistant')
      expect(messages.filter((m) => m.role === 'assistant').length).toBeLessThanOrEqual(all.length - gone.length)
    },
    must_not_render_inside_pair: (ids: string[]) => {
      const between = messages.filter((m, i) => m.role !== 'tool' && messages[i + 1]?.role === 'tool' && callsOf(m).length === 0)
      for (const id of ids)
        for (const m of between) expect(textOf(m)).not.toContain((stored.get(id) as { summary?: string }).summary ?? '\u0000')
      expectAll(['results_directly_follow_their_calls'], messages)
    },
    synthetic_results: (count: number) => {
      expect(messages.filter((m) => m.role === 'tool' && m.code === 'interrupted')).toHaveLength(count)
    },
    pairs_kept_or_dropped_whole: (pairs: [string, string][]) => {
      for (const [call, result] of pairs) expect(kept(call)).toBe(kept(result))
    },
    first_after_system_is_user: (is: boolean) => {
      expect(messages[0]?.role === 'user').toBe(is)
    },
    stored_history_unchanged: () => {
      for (const [id, entry] of stored) expect(JSON.stringify(h.store.entries.find(created.info.id, entry.id))).toBe(before.get(id))
    },
    placeholder_for_image: () => {
      expect(said).toMatch(/picture|image/i)
    },
    user_sees: (words: string[]) => {
      const shown = eventsOf(h.store, session)
        .flatMap((e) => (e.type === 'notice' ? [e.message] : []))
        .join('\n')
      for (const word of words) for (const one of word.split(' ')) expect(shown).toContain(one)
    },
    no_empty_text_parts: () => {
      const texts = messages.flatMap((m) => (m.role === 'tool' ? [m.text] : m.parts.flatMap((p) => (p.type === 'text' ? [p.text] : []))))
      expect(texts.filter((t) => t.trim() === '')).toEqual([])
    },
    compaction: () => {
      expect(h.store.entries.nodes(session.info.id).filter((n) => n.kind === 'compaction')).toEqual([])
      expect(ran).toEqual([runningCall?.name])
    },
    tool_names_match: (pattern: string) => {
      for (const name of toolNames) expect(name).toMatch(new RegExp(pattern))
    },
    tool_names_unique: () => {
      expect(new Set(toolNames).size).toBe(toolNames.length)
    },
    tool_count: (count: number) => {
      expect(toolNames).toHaveLength(count)
    },
    names_in_history_match: (pattern: string) => {
      expect(namesIn.length).toBeGreaterThan(0)
      for (const name of namesIn) expect(name).toMatch(new RegExp(pattern))
    },
    same_mapping_in_history_and_tools: () => {
      for (const name of namesIn) expect(toolNames).toContain(name)
    },
    dispatched_to: (name: string) => {
      expect(ran).toEqual([name])
    },
    shown_to_user_as: (name: string) => {
      expect(eventsOf(h.store, session).find((e) => e.type === 'tool_start')).toMatchObject({ name })
    }
  }
}

type Property = (messages: readonly Message[], request: ModelRequest, window: number) => void
const PROPERTIES: Readonly<Record<string, Property>> = {
  every_result_has_prior_call: (messages) => {
    const calls = new Set<string>()
    for (const m of messages) {
      if (m.role === 'tool') expect(calls).toContain(m.callId)
      for (const c of callsOf(m)) calls.add(c.id)
    }
  },
  every_call_has_exactly_one_result: (messages) => {
    for (const call of messages.flatMap(callsOf)) expect(messages.filter((m) => m.role === 'tool' && m.callId === call.id)).toHaveLength(1)
  },
  results_directly_follow_their_calls: (messages) => {
    for (const [i, m] of messages.entries()) {
      const calls = callsOf(m)
      const after = messages.slice(i + 1, i + 1 + calls.length)
      expect(after.map((r) => (r.role === 'tool' ? r.callId : r.role))).toEqual(calls.map((c) => c.id))
    }
  },
  no_empty_messages: (messages) => {
    for (const m of messages) expect(textOf(m).trim() !== '' || callsOf(m).length > 0 || hasImage(m)).toBe(true)
  },
  fits_window: (messages, { system, tools }, window) => {
    const size = messages.reduce((sum, m) => sum + estimateMessage(m), 0) + estimateTokens(system) + estimateTokens(JSON.stringify(tools))
    expect(size).toBeLessThanOrEqual(window)
  },
  roles_alternate: (messages) => {
    const roles = messages.filter((m) => m.role !== 'tool').map((m) => m.role)
    for (const [i, role] of roles.entries()) if (i > 0 && messages.every((m) => m.role !== 'tool')) expect(role).not.toBe(roles[i - 1])
    for (const [i, m] of messages.entries()) if (m.role === 'user') expect(messages[i + 1]?.role).not.toBe('user')
  },
  no_image_parts: (messages) => {
    expect(messages.some(hasImage)).toBe(false)
  }
}
const hasImage = (m: Message): boolean => m.role === 'user' && m.parts.some((p) => p.type === 'image')

/** The person looks at another branch, and at another session, while an answer streams. */
async function playStreaming(): Promise<Record<string, (value: never) => unknown>> {
  const go = Promise.withResolvers<undefined>()
  let sent = ''
  const stream: StreamFn = async function* (): AsyncGenerator<ModelEvent> {
    for (let i = 0; i < 40; i++) {
      const delta = `chunk ${String(i)} `
      sent += delta
      yield { type: 'text', delta }
      if (i === 19) await go.promise
      if (i % 5 === 0) await sleep(5)
    }
    yield { type: 'end', stopReason: 'stop', usage: {} }
  }
  const h = openHarness(stream)
  open.push(h)
  const session = h.session()
  const aside: Entry = {
    id: newId(),
    sessionId: session.info.id,
    parentId: null,
    at: 1,
    type: 'message',
    message: { role: 'user', parts: [{ type: 'text', text: 'Another way' }] }
  }
  h.store.entries.add(aside)
  const other = JSON.stringify(aside)
  await session.prompt({ text: 'Write a long poem', itemId: 'u1', parentId: null })
  await waitFor(session, 'message_update')
  const moved = await session.goTo({ entryId: aside.id })
  const elsewhere = h.session().snapshot()
  const during = session.snapshot()
  go.resolve(undefined)
  await session.waitForIdle()
  const entries = [...h.store.entries.all(session.info.id)]
  const user = entries.find((e) => e.type === 'message' && e.message.role === 'user' && e.id !== aside.id)
  const answer = entries.find((e) => e.type === 'message' && e.message.role === 'assistant')
  return {
    a1_parent: () => {
      expect(answer?.parentId).toBe(user?.id)
    },
    a1_text: () => {
      expect(answer?.type === 'message' && textOf(answer.message)).toBe(sent)
    },
    other_branches_changed: (changed: boolean) => {
      expect(JSON.stringify(h.store.entries.find(session.info.id, aside.id)) !== other).toBe(changed)
      expect(entries.filter((e) => e.parentId === aside.id)).toEqual([])
      expect(elsewhere.entries).toEqual([])
      expect(session.snapshot().head, 'the person stays where they went').toBe(aside.id)
    },
    run_continues: (goes: boolean) => {
      expect(moved.ok && during.run?.endedAt === undefined).toBe(goes)
      expect(session.info.state).toBe('completed')
    }
  }
}
