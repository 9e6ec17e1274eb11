import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildContext, newestMessages } from '../../../src/main/session/context'
import { validHistory } from '../../../src/main/session/history'
import { listOf } from '../../../src/shared/list'
import { callsOf, type Message } from '../../../src/shared/message'

const user = fc.string().map((text): Message => ({ role: 'user', parts: [{ type: 'text', text }] }))
const assistant = fc
  .record({
    text: fc.string(),
    calls: fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }),
    stopReason: fc.constantFrom('stop', 'aborted', 'error', 'interrupted')
  })
  .map(({ text, calls, stopReason }): Message => ({
    role: 'assistant',
    model: 'm',
    stopReason: stopReason as 'stop',
    parts: [
      { type: 'thinking', text: 'hm' },
      { type: 'text', text },
      ...[...new Set(calls)].map((id) => ({ type: 'call' as const, id, name: 't', arguments: '{}' }))
    ]
  }))
const tool = fc
  .constantFrom('a', 'b', 'c', 'x')
  .map((callId): Message => ({ role: 'tool', callId, name: 't', code: 'ok', text: callId, durationMs: 1 }))
const anyHistory = fc.array(fc.oneof(user, assistant, tool), { maxLength: 30 })

function expectValid(messages: readonly Message[]): void {
  for (let i = 0; i < messages.length;) {
    const message = messages[i] as Message
    i++
    expect(message.role, 'a result stands behind its call only').not.toBe('tool')
    for (const call of callsOf(message)) {
      expect(messages[i]).toMatchObject({ role: 'tool', callId: call.id })
      i++
    }
  }
}

describe('the history that a provider gets', () => {
  it('has exactly one result for each call, in order, right behind it, whatever was stored', () => {
    fc.assert(
      fc.property(anyHistory, (messages) => {
        expectValid(validHistory(messages))
      })
    )
  })

  it('is the stored one where that is valid already, and a fixed point always', () => {
    fc.assert(
      fc.property(anyHistory, (messages) => {
        const once = validHistory(messages)
        expect(validHistory(once)).toEqual(once)
      })
    )
  })

  it('says of a call without a result that nothing ran', () => {
    const [, , result] = validHistory([
      { role: 'user', parts: [{ type: 'text', text: 'go' }] },
      { role: 'assistant', model: 'm', stopReason: 'interrupted', parts: [{ type: 'call', id: '1', name: 't', arguments: '{}' }] }
    ])
    expect(result).toMatchObject({ role: 'tool', callId: '1', code: 'interrupted' })
  })
})

describe('the context', () => {
  it('fits the window, is valid, and keeps the newest turn whatever its size', () => {
    fc.assert(
      fc.property(anyHistory, fc.integer({ min: 500, max: 4_000 }), (messages, window) => {
        const { request, report } = buildContext({ system: 'You are Tau.', messages, tools: [], window })
        expectValid(request.messages)
        const lastUser = messages.findLast((m) => m.role === 'user' && m.parts.some((p) => p.text.trim() !== ''))
        const turnsLeftOut = messages.slice(report.leftOut).filter((m) => m.role === 'user').length > 1
        if (turnsLeftOut) expect(report.history).toBeLessThanOrEqual(window)
        if (lastUser && messages.lastIndexOf(lastUser) >= report.leftOut) expect(request.messages).toContain(lastUser)
      })
    )
  })

  it('starts a long session from what the window can hold, not from all of it', () => {
    const entries = Array.from({ length: 10_000 }, (_, i) => ({
      id: String(i),
      sessionId: 's',
      parentId: null,
      at: 0,
      type: 'message' as const,
      message: { role: 'user' as const, parts: [{ type: 'text' as const, text: `question ${String(i)}` }] }
    }))
    const messages = newestMessages(listOf(entries), 1_000)
    expect(messages.length).toBeLessThan(150)
    expect(messages.at(-1)).toBe(entries.at(-1)?.message)
  })
})
