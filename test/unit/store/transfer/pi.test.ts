// Session files of Pi: what each kind of line becomes, what is reported, and what goes out again.
import { afterEach, describe, expect, it } from 'vitest'
import { contextAt } from '../../../../src/main/session/context/context'
import { importSession } from '../../../../src/main/store/transfer'
import { type Message, textOf } from '../../../../src/shared/message'
import { closeAll, example, exported, headOf, imported, linesOf, madeHere, opened, options, path, say } from './support'

afterEach(closeAll)

const header = '{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/x"}\n'
/** A line of a file, `fields` over what every entry has. */
const entry = (id: string, parentId: string | null, fields: object): string =>
  `${JSON.stringify({ id, parentId, timestamp: '2026-01-01T00:00:00Z', ...fields })}\n`
const user = (id: string, parentId: string | null, content: string): string =>
  entry(id, parentId, { type: 'message', message: { role: 'user', content } })
const first = [
  '{"type":"session","id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/x"}',
  '{"type":"message","timestamp":"2026-01-01T00:00:01Z","message":{"role":"user","content":"first"}}',
  '{"type":"message","timestamp":"2026-01-01T00:00:02Z","message":{"role":"hookMessage","content":"hooked"}}',
  '{"type":"compaction","timestamp":"2026-01-01T00:00:03Z","summary":"S","firstKeptEntryIndex":2}'
].join('\n')

describe('a session file of Pi', () => {
  it('comes in whole: name, label, every branch, the place where it was, and the context that Pi would send', () => {
    const store = opened()
    const { session, entries, bad } = imported(store, example)
    expect({ entries, bad }).toEqual({ entries: 24, bad: [] })
    expect(session).toMatchObject({ title: 'Greenhouse nights', workspace: '/demo/greenhouse' })
    expect(Object.values(store.sessions.labels(session.id))).toEqual(['night answer'])
    expect(path(store, session.id).at(-1)).toMatchObject({ type: 'message', message: { parts: [{ text: 'Thanks.' }] } })
    const frame = { system: '', tools: [], window: 100_000, vision: false }
    const { messages } = contextAt(frame, store.entries.up(session.id, store.sessions.find(session.id)?.head ?? null)).request()
    expect(messages.map((m) => [m.role, textOf(m).slice(0, 12)])).toEqual([
      ['user', 'Summary of t'], // and the person's words after it, as turns alternate
      ['assistant', '12.6 degrees'],
      ['user', 'Ran `uptime`']
    ])
    expect(textOf(messages[0] as Message)).toContain('And the mean?')
    expect(textOf(messages[2] as Message)).toContain('Thanks.')
  })

  it('goes out byte for byte as it came in, whatever its lines say', () => {
    for (const text of [
      example,
      example.trimEnd(),
      `${example}{"type":"future","id":"f1","parentId":null,"x":[1]}\n{"cut`,
      example.replaceAll('\n', '\r\n'),
      `\ufeff${example}\n\n`,
      first,
      '{"id":"u1","text":"one"}\n{"id":"a1","te',
      header,
      `${header}${user('a', null, 'x\0y')}\0\0\n`,
      header + entry('a', null, { type: 'session_info', name: `${'n'.repeat(199)}👋 and more` }),
      header + entry('a', null, { type: 'session_info', name: 'A' }) + entry('b', 'a', { type: 'session_info' }),
      header + user('a', null, ' '.repeat(70)) + user('b', 'a', `${'w'.repeat(90)}👋`),
      header + user('a', null, 'x') + entry('b', 'a', { type: 'label', targetId: 'a', label: 'half \ud83d' }),
      header + entry('b', null, { type: 'label', targetId: 'a', label: 'before its target' }) + user('a', 'b', 'x'),
      header + entry('a', null, { type: 'label', targetId: 'gone', label: 'of nothing' }),
      header + entry('a', null, { type: 'custom', customType: 'tau.head', data: {} }),
      header + entry('a', null, { type: 'custom', customType: 'tau.side', data: { from: 'gone', home: null, name: '', startedAt: 1 } }),
      header + entry('a', null, { type: 'message', timestamp: 1e20, tau: { role: 5 }, message: { role: 'user', content: null } })
    ]) {
      const store = opened()
      expect(exported(store, imported(store, text).session.id), text.slice(0, 300)).toBe(text)
    }
  })

  it('keeps its lines when the session grew, and the head is the last line', () => {
    const store = opened()
    const { session } = imported(store, example)
    const id = say(store, session.id, headOf(store, session.id), 'More')
    const text = exported(store, session.id)
    expect(text.startsWith(example)).toBe(true)
    expect(linesOf(text).at(-1)).toMatchObject({
      type: 'message',
      id,
      parentId: 'a0000018',
      message: { role: 'user', content: [{ text: 'More' }] }
    })
    const [first] = path(store, session.id)
    store.sessions.setHead(session.id, first?.id ?? null)
    expect(linesOf(exported(store, session.id)).at(-1)).toMatchObject({ type: 'custom', customType: 'tau.head', parentId: 'a0000001' })
  })

  it('whose last line is cut gives what was whole, and says which line was not', () => {
    const store = opened()
    const made = imported(store, '{"id":"u1","text":"one"}\n{"id":"a1","te')
    expect(made.bad).toEqual([{ line: 2, why: 'the line is cut' }])
    expect(path(store, made.session.id)).toMatchObject([{ message: { role: 'user', parts: [{ text: 'one' }] } }])
  })

  it('with a missing parent or an id twice loses nothing that can be read', () => {
    const store = opened()
    const made = imported(
      store,
      header + user('a', null, 'one') + user('b', 'gone', 'two') + user('a', null, 'again') + user('c', 'b', 'three')
    )
    expect(path(store, made.session.id).map((e) => (e.type === 'message' ? textOf(e.message) : ''))).toEqual(['one', 'two', 'three'])
    expect(made.bad.map((b) => b.line)).toEqual([3, 4])
  })

  it.each(['', 'hello', '{"a":1}', '[]', '\u0000\u0000', '{"tau":1}', '{"tau":2,"entries":[]}'])(
    'is not taken for one when it is none: %j',
    (text) => {
      const store = opened()
      expect(importSession(store, text, options)).toMatchObject({ ok: false, code: 'not_a_session' })
      expect(store.sessions.list('open')).toEqual([])
    }
  )

  it('of versions 1 and 2 is read as Pi reads it', () => {
    const store = opened()
    const made = imported(store, first)
    const entries = path(store, made.session.id)
    expect(entries.map((e) => (e.type === 'message' ? textOf(e.message) : e.type))).toEqual(['first', 'hooked', 'compaction'])
    expect(entries[2]).toMatchObject({ keepsFrom: entries[1]?.id })
  })

  it('keeps what the person kept from the model, and edits without changing who spoke', () => {
    const store = opened()
    const text =
      header +
      entry('a', null, {
        type: 'message',
        message: { role: 'bashExecution', command: 'env', output: 'SECRET', excludeFromContext: true }
      }) +
      entry('b', 'a', {
        type: 'message',
        message: { role: 'bashExecution', command: 'x', exitCode: -1, truncated: true, fullOutputPath: '/f' }
      }) +
      entry('c', 'b', { type: 'message', message: { role: 'toolResult', toolCallId: 'c1', toolName: 't', content: [], isError: true } }) +
      entry('d', 'c', { type: 'context_edit', targetId: 'c', replacement: { content: 'shorter' } }) +
      entry('e', 'd', { type: 'message', message: { role: 'assistant', content: [], provider: 'p', model: 'm', stopReason: 'pending' } }) +
      entry('f', 'e', { type: 'context_edit', targetId: 'e', replacement: { content: [{ type: 'text', text: 'said' }] } })
    const entries = path(store, imported(store, text).session.id)
    expect(entries).toMatchObject([
      { type: 'imported', what: 'message bashExecution' },
      { message: { parts: [{ text: 'Ran `x`\n(no output)\n\nCommand exited with code -1\n\n[Output truncated. Full output: /f]' }] } },
      { message: { role: 'tool', code: 'error', text: '' } },
      { type: 'edit', targetId: entries[2]?.id, message: { role: 'tool', callId: 'c1', code: 'error', text: 'shorter' } },
      { message: { role: 'assistant', model: 'p:m', stopReason: 'interrupted' } },
      { type: 'edit', targetId: entries[4]?.id, message: { role: 'assistant', parts: [{ type: 'text', text: 'said' }] } }
    ])
  })

  it.each([
    ['version 1', first],
    ['a plain log', '{"id":"u1","text":"one"}\n{"id":"a1","role":"assistant","text":"two"}']
  ])('of %s that grew goes out as version 3, where every entry has an id and a parent', (_what, text) => {
    const store = opened()
    const { session, entries } = imported(store, text)
    const id = say(store, session.id, headOf(store, session.id), 'More')
    const lines = linesOf(exported(store, session.id))
    expect(lines[0]).toMatchObject({ type: 'session', version: 3 })
    expect(lines).toHaveLength(entries + 2)
    for (const [i, line] of lines.entries()) if (i > 1) expect(line['parentId']).toBe(lines[i - 1]?.['id'])
    expect(lines.at(-1)).toMatchObject({ id, type: 'message' })
    expect(JSON.stringify(lines)).not.toMatch(/hookMessage|firstKeptEntryIndex/)
    const again = imported(store, exported(store, session.id))
    expect([again.entries, again.bad]).toEqual([entries + 1, []])
  })

  it('takes what stands under `tau` only where it fits', () => {
    const store = opened()
    const text =
      header +
      entry('a', null, { type: 'message', message: { role: 'user', content: 'x' }, tau: { message: { role: 'tool' }, parentId: 'zzz' } }) +
      entry('b', 'a', {
        type: 'message',
        message: { role: 'user', content: 'y' },
        tau: { message: { said: { kind: 'steer', at: 1, turn: 2 } } }
      })
    expect(path(store, imported(store, text).session.id)).toMatchObject([
      { message: { role: 'user', parts: [{ text: 'x' }] } },
      { message: { role: 'user', said: { kind: 'steer' } } }
    ])
  })
})

describe('a session of Tau as a file of Pi', () => {
  it('ends with the entry that the conversation is at, also after going back to an older branch, and branches keep their order', () => {
    const store = opened()
    const id = madeHere(store)
    const root = say(store, id, null, 'root')
    const older = say(store, id, root, 'older')
    say(store, id, root, 'newer')
    store.sessions.setLabel(id, root, 'begin', 1)
    store.sessions.setHead(id, older)
    const text = exported(store, id)
    expect(linesOf(text).at(-1)).toMatchObject({ id: older, parentId: root })
    const again = imported(store, text).session.id
    expect(path(store, again).at(-1)).toMatchObject({ message: { parts: [{ text: 'older' }] } })
    const [rootAgain] = path(store, again)
    const below = store.entries.children(again, rootAgain?.id ?? null).flatMap((c) => {
      const child = store.entries.find(again, c)
      return child?.type === 'message' ? [textOf(child.message)] : []
    })
    expect(below).toEqual(['older', 'newer'])
    store.sessions.setHead(id, root)
    expect(linesOf(exported(store, id)).at(-1)).toMatchObject({ type: 'custom', customType: 'tau.head', parentId: root })
  })

  it('has what Pi needs to open and draw it', () => {
    const store = opened()
    const id = madeHere(store, 'Plants')
    const asked = say(store, id, null, { role: 'user', parts: [{ type: 'image', mime: 'image/png', data: 'AA==' }] })
    const answered = say(store, id, asked, {
      role: 'assistant',
      model: 'ollama:qwen3:8b',
      stopReason: 'calls',
      usage: { inputTokens: 3, outputTokens: 2, cost: 0.5 },
      parts: [{ type: 'call', id: 'c', name: 't', arguments: '{"a":1}' }]
    })
    say(store, id, answered, { role: 'tool', callId: 'c', name: 't', code: 'ok', text: 'done', durationMs: 4 })
    const [head, ...lines] = linesOf(exported(store, id)).filter((l) => l['type'] !== 'session_info')
    expect(linesOf(exported(store, id))).toContainEqual(expect.objectContaining({ type: 'session_info', name: 'Plants' }))
    expect(head).toMatchObject({ type: 'session', version: 3, id, cwd: '/w' })
    expect(lines).toMatchObject([
      { message: { role: 'user', content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }] } },
      {
        message: {
          role: 'assistant',
          provider: 'ollama',
          model: 'qwen3:8b',
          api: 'openai-completions',
          stopReason: 'toolUse',
          content: [{ type: 'toolCall', id: 'c', name: 't', arguments: { a: 1 } }],
          usage: { input: 3, output: 2, totalTokens: 5, cost: { total: 0.5 } }
        }
      },
      { message: { role: 'toolResult', toolCallId: 'c', toolName: 't', isError: false, content: [{ type: 'text', text: 'done' }] } }
    ])
    for (const line of lines) expect(line).not.toHaveProperty('tau')
  })
})
