// Faults of what is stored: odd characters, odd names, odd clocks, files that are cut.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect } from 'vitest'
import { buildChatBody } from '../../../src/main/models/ollama/body'
import { newId } from '../../../src/main/store/id'
import { openStore } from '../../../src/main/store/store'
import { exportSession, fileNameFor, importSession } from '../../../src/main/store/transfer'
import { type Message, textOf } from '../../../src/shared/message'
import { freshFolder, openHarness, say, scripted } from '../../support/harness'
import { type Checks, folderWith, type Input, integrity, kept, MODEL, said, start, texts, undo } from './setup'

const unescaped = (escaped: string): string => JSON.parse(`"${escaped}"`) as string
const call: Message = {
  role: 'assistant',
  parts: [{ type: 'call', id: 'c', name: 't', arguments: '{}' }],
  model: MODEL,
  stopReason: 'calls'
}

export function importOfCutLog(input: Input): Checks {
  const source = join(freshFolder(), 'log.jsonl')
  const text = (input.setup.legacy_jsonl ?? []).join('\n')
  writeFileSync(source, text)
  const store = openStore(freshFolder('home'), 'test')
  undo.push(() => {
    store.close()
  })
  const made = importSession(store, readFileSync(source, 'utf8'), { fallbackWorkspace: '/w', model: 'm', at: 1 })
  return {
    imported: (ids: string[]) => {
      const lines = made.ok ? store.imported.all(made.session.id) : []
      expect(lines.flatMap((l) => (l.entryId === undefined ? [] : [l.foreignId]))).toEqual(ids)
    },
    bad_lines_reported: (count: number) => {
      expect(made.ok && made.bad).toHaveLength(count)
    },
    source_file_unchanged: () => {
      expect(readFileSync(source, 'utf8')).toBe(text)
    }
  }
}

/** Stores messages after a question, opens the folder again, and asks the model something. */
async function reloaded(messages: readonly Message[]) {
  const made = folderWith({ setup: {}, fault: null, then: '' }, (store, sessionId) => {
    let parentId: string | null = null
    for (const message of messages) {
      const id = newId()
      store.entries.add({ id, sessionId, parentId, at: 1, type: 'message', message })
      parentId = id
    }
  })
  const started = start(made)
  const stored = [...started.h.store.entries.all(made.sessionId)]
  await say(started.session, 'Go on.')
  const request = started.requests.at(-1)
  if (!request) throw new Error('no request was made')
  const body = JSON.stringify(buildChatBody(request, { model: 'm', window: 8_192, tools: true }))
  const json = [...(exportSession(started.h.store, made.sessionId, 'json') ?? [])].join('')
  return { ...started, made, stored, body, json }
}

export async function oddToolResult(input: Input): Promise<Checks> {
  const text = unescaped(input.setup.tool_result_json_escaped ?? '')
  const { stored, json } = await reloaded([
    said('user', 'run'),
    call,
    { role: 'tool', callId: 'c', name: 't', code: 'ok', text, durationMs: 1 }
  ])
  const back = stored[2]?.type === 'message' ? textOf(stored[2].message) : ''
  return {
    text_after_reload_json_escaped: (expected: string) => {
      expect(back).toBe(unescaped(expected))
    },
    text_cut_at_nul: (is: boolean) => {
      expect(back.length < text.length).toBe(is)
    },
    export_is_valid_json: () => {
      expect(JSON.parse(json)).toMatchObject({ tau: 1 })
    }
  }
}

export async function oddAnswer(input: Input): Promise<Checks> {
  const text = unescaped(input.setup.assistant_json_escaped ?? '')
  const { stored, body } = await reloaded([said('user', 'hi'), said('assistant', text)])
  return {
    stored: () => {
      expect(stored[1]?.type === 'message' && textOf(stored[1].message).toWellFormed()).toBe(text.toWellFormed())
    },
    request_body_is_valid_utf8: () => {
      const bytes = Buffer.from(body)
      expect(new TextDecoder('utf-8', { fatal: true }).decode(bytes)).toBe(body)
      expect(JSON.parse(bytes.toString('utf8'))).toMatchObject({ model: 'm' })
    }
  }
}

export async function oddUserText(input: Input): Promise<Checks> {
  const text = input.setup.user_text ?? ''
  const { h, session, made, stored, json } = await reloaded([said('user', text), said('assistant', 'ok')])
  await say(session, text)
  return {
    text_unchanged: () => {
      expect(stored[0]?.type === 'message' && textOf(stored[0].message)).toBe(text)
      expect(texts(h, made.sessionId).filter((t) => t === text)).toHaveLength(2)
      expect(json).toContain(JSON.stringify(text))
    },
    found_by_search: () => {
      expect(h.store.entries.search(text, 10).map((f) => f.sessionId)).toContain(made.sessionId)
    },
    tables_intact: () => {
      expect(h.store.entries.search(text, 10).length).toBeGreaterThan(0)
      expect(integrity(made.home)).toBe('ok')
    }
  }
}

export function oddTitle(input: Input): Checks {
  const title = input.setup.title ?? ''
  const made = folderWith({ setup: { entries: [{ id: 'u1', role: 'user', text: 'hi' }] }, fault: null, then: '' })
  const { h, session } = start(made)
  session.rename(title)
  const name = fileNameFor(session.info.title, 'json')
  const target = join(freshFolder(), name)
  writeFileSync(target, [...(exportSession(h.store, made.sessionId, 'json') ?? [])].join(''))
  return {
    export_ok: () => {
      expect(existsSync(target) && statSync(target).size).toBeGreaterThan(50)
    },
    file_name_safe: () => {
      expect(basename(target)).toBe(name)
      expect(name).toMatch(/^[^/\\:*?"<>|\p{Cc}\p{Cf}]+$/u)
    }
  }
}

export async function wrongClock(): Promise<Checks> {
  let ahead = 10 * 60_000
  const home = freshFolder('home')
  const h = openHarness(scripted('repeat\nsay: answer to {{user}}'), { home, now: () => Date.now() + ahead })
  kept(h)
  const session = h.session()
  await say(session, 'one')
  await say(session, 'two')
  ahead = 0
  await say(session, 'three')
  const path = [...h.store.entries.up(session.info.id, session.snapshot().head)].reverse()
  return {
    order: () => {
      const words = path.flatMap((e) => (e.type === 'message' ? [textOf(e.message)] : []))
      expect(words).toEqual(['one', 'answer to one', 'two', 'answer to two', 'three', 'answer to three'])
      expect(path.at(-1)?.at).toBeLessThan(path[0]?.at ?? 0)
    },
    each_message_gets_an_answer: () => {
      expect(path.filter((e) => e.type === 'message' && e.message.role === 'assistant')).toHaveLength(3)
    }
  }
}
