import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contextAt, type ContextFrame, createContext } from '../../../src/main/session/context/context'
import { estimateMessage } from '../../../src/main/session/context/estimate'
import { callsOf, type Message, textOf, type UserMessage } from '../../../src/shared/message'
import type { Entry } from '../../../src/shared/session'

const text = (words: string): UserMessage => ({ role: 'user', parts: [{ type: 'text', text: words }] })
const words = fc.oneof(fc.string(), fc.string({ minLength: 200, maxLength: 3_000 }))
const user = words.map(text)
const assistant = fc
  .record({ text: words, calls: fc.uniqueArray(fc.constantFrom('a', 'b', 'c')), stopReason: fc.constantFrom('stop', 'aborted', 'error') })
  .map(({ text: said, calls, stopReason }): Message => ({
    role: 'assistant',
    model: 'm',
    stopReason: stopReason as 'stop',
    parts: [
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: said },
      ...calls.map((id) => ({ type: 'call' as const, id, name: 't', arguments: '{}' }))
    ]
  }))
const tool = fc
  .record({ callId: fc.constantFrom('a', 'b', 'c', 'x'), text: words })
  .map((r): Message => ({ role: 'tool', name: 't', code: 'ok', durationMs: 1, ...r }))
const anyHistory = fc.array(fc.oneof(user, assistant, tool), { maxLength: 30 })

const frame = (window: number): ContextFrame => ({ system: 'You are Tau.', tools: [], window, vision: false })
const chain = (messages: readonly Message[]): Entry[] =>
  messages.map((message, i) => ({
    id: `e${String(i)}`,
    parentId: i === 0 ? null : `e${String(i - 1)}`,
    sessionId: 's',
    at: 0,
    type: 'message',
    message
  }))
const sent = (entries: readonly Entry[], window = 100_000): readonly Message[] =>
  contextAt(frame(window), entries.toReversed()).request().messages
const tokens = (messages: readonly Message[]): number => messages.reduce((sum, m) => sum + estimateMessage(m), 0)

/** What every provider asks of a history (design §3.5). */
function expectValid(messages: readonly Message[]): void {
  let before: string | undefined
  for (let i = 0; i < messages.length;) {
    const message = messages[i] as Message
    i++
    expect(message.role, 'a result stands behind its call only').not.toBe('tool')
    expect(message.role === 'user' && before === 'user', 'turns of the person are one message').toBe(false)
    before = message.role
    expect(textOf(message).trim() !== '' || callsOf(message).length > 0, 'no message is empty').toBe(true)
    for (const call of callsOf(message)) {
      expect(messages[i]).toMatchObject({ role: 'tool', callId: call.id })
      expect(textOf(messages[i] as Message).trim()).not.toBe('')
      i++
    }
  }
}

describe('the history that a provider gets', () => {
  it('has exactly one result for each call, in order, right behind it, whatever was stored', () => {
    fc.assert(
      fc.property(anyHistory, (messages) => {
        expectValid(sent(chain(messages)))
      })
    )
  })

  it('fits the window whatever its size, and keeps the newest words of the person', () => {
    fc.assert(
      fc.property(anyHistory, fc.integer({ min: 800, max: 4_000 }), (messages, window) => {
        const list = sent(chain(messages), window)
        expectValid(list)
        expect(tokens(list)).toBeLessThanOrEqual(window)
        const last = messages.findLast((m) => m.role === 'user' && textOf(m).trim() !== '')
        if (last)
          expect(
            list
              .filter((m) => m.role === 'user')
              .map(textOf)
              .join('\n')
          ).toContain(textOf(last).slice(0, 20))
        if (list.length > 0 && messages.find((m) => m.role !== 'tool' && textOf(m).trim() !== '')?.role === 'user')
          expect(list[0]?.role).toBe('user')
      })
    )
  })

  it('says of a call without a result that nothing is known of one', () => {
    const open: Message = {
      role: 'assistant',
      model: 'm',
      stopReason: 'interrupted',
      parts: [{ type: 'call', id: '1', name: 't', arguments: '{}' }]
    }
    expect(sent(chain([text('go'), open]))[2]).toMatchObject({ role: 'tool', callId: '1', code: 'interrupted' })
  })
})

describe('a context that is kept from turn to turn', () => {
  it('says the same as one that is made anew, while nothing had to go', () => {
    fc.assert(
      fc.property(anyHistory, (messages) => {
        const kept = createContext(frame(1_000_000))
        for (const message of messages) {
          kept.add(message)
          kept.request() // what was asked for on the way changes nothing
        }
        expect(kept.request().messages).toEqual(sent(chain(messages), 1_000_000))
      })
    )
  })

  it('begins each request with the bytes of the one before, and cuts rarely', () => {
    const context = createContext(frame(6_000))
    let before: string[] = []
    let breaks = 0
    for (let i = 0; i < 400; i++) {
      context.add(text(`question ${String(i)} ${'x'.repeat(100)}`))
      const now = context.request().messages.map((m) => JSON.stringify(m))
      if (before.some((m, n) => now[n] !== m)) breaks++
      before = now
      context.add({ role: 'assistant', model: 'm', stopReason: 'stop', parts: [{ type: 'text', text: `answer ${String(i)}` }] })
    }
    expect(breaks).toBeGreaterThan(3)
    expect(breaks).toBeLessThan(30)
  })

  it('keeps what the person asked for when a long turn outgrows the window', () => {
    const context = createContext(frame(4_000))
    context.add(text('Count all the files.'))
    for (let i = 0; i < 200; i++) {
      const id = `c${String(i)}`
      context.add({ role: 'assistant', model: 'm', stopReason: 'calls', parts: [{ type: 'call', id, name: 't', arguments: '{}' }] })
      context.add({ role: 'tool', callId: id, name: 't', code: 'ok', text: `result ${String(i)} ${'y'.repeat(200)}`, durationMs: 1 })
      const { messages } = context.request()
      expectValid(messages)
      expect(textOf(messages[0] as Message)).toContain('Count all the files.')
      expect(textOf(messages.at(-1) as Message)).toContain(`result ${String(i)} `)
    }
    expect(context.report().cut).toBe(true)
  })

  it('reads only what the window can hold of a long session', () => {
    let read = 0
    const entries = chain(Array.from({ length: 10_000 }, (_, i) => text(`question ${String(i)}`))).reverse()
    contextAt(
      frame(1_000),
      (function* () {
        for (const entry of entries) {
          read++
          yield entry
        }
      })()
    )
    expect(read).toBeLessThan(200)
  })
})

describe('entries that are no messages', () => {
  const said = chain([
    text('one'),
    { role: 'assistant', model: 'm', stopReason: 'stop', parts: [{ type: 'text', text: 'uno' }] },
    text('two')
  ])
  const at = (n: number): Pick<Entry, 'id' | 'parentId' | 'sessionId' | 'at'> => ({
    id: `x${String(n)}`,
    parentId: 'e2',
    sessionId: 's',
    at: 0
  })
  it('a compaction stands for what comes before the entry it keeps from', () => {
    const list = sent([...said, { ...at(1), type: 'compaction', summary: 'They counted.', keepsFrom: 'e1' }])
    expect(list.map(textOf)).toEqual([expect.stringContaining('They counted.'), 'uno', 'two'])
  })
  it('an edit hides or replaces its target, and the newest one counts', () => {
    const edit = (n: number, message: Message | null): Entry => ({ ...at(n), type: 'edit', targetId: 'e1', message })
    expect(sent([...said, edit(1, null)]).map(textOf)).toEqual(['one\n\ntwo'])
    expect(sent([...said, edit(1, null), edit(2, text('eins'))]).map(textOf)).toEqual(['one\n\neins\n\ntwo'])
  })
  it('a branch summary is told with the files that were read and changed', () => {
    const [only] = sent([
      { ...at(1), type: 'branch_summary', summary: 'Tried it.', from: 'f', files: { read: ['a'], changed: ['b'] }, model: 'm' }
    ])
    expect(textOf(only as Message)).toMatch(/Tried it\.[^]*read: a[^]*changed: b/)
  })
})
