import { afterEach, describe, expect, it } from 'vitest'
import { newId } from '../../../src/main/store/id'
import { openStore, type Store } from '../../../src/main/store/store'
import { recoverRuns } from '../../../src/main/session/run/recovery'
import type { AssistantMessage, Message, ToolMessage } from '../../../src/shared/message'
import type { Entry } from '../../../src/shared/session'
import { messageEntries } from '../../../src/shared/tree'
import { freshFolder } from '../../support/harness'
import { sessionRow } from '../../support/rows'

// What a killed process leaves is built here row by row; the kill itself is tested end to end in test/e2e/crash.test.ts.
const stores: Store[] = []
afterEach(() => {
  for (const s of stores.splice(0)) s.close()
})
const sessionId = 's'
const runId = 'r'
function leftBehind(): Store {
  const store = openStore(freshFolder(), 'test')
  stores.push(store)
  store.sessions.insert(sessionRow(sessionId, { state: 'running' }))
  entry(store, { role: 'user', parts: [{ type: 'text', text: 'go' }] })
  store.events.append(sessionId, 1, 1, { type: 'agent_start', runId, model: 'm' })
  store.runs.insert(
    { id: runId, sessionId, state: 'running', model: 'm', turn: 1, startedAt: 1 },
    1,
    store.sessions.find(sessionId)?.head ?? null
  )
  store.runs.setProgress(runId, 1, undefined)
  return store
}
function entry(store: Store, message: Message, id = newId()): void {
  const stored: Entry = { id, sessionId, parentId: store.sessions.find(sessionId)?.head ?? null, at: 2, type: 'message', message }
  store.entries.add(stored)
  const seq = store.events.lastSeq(sessionId)
  if (seq > 0) store.events.append(sessionId, seq + 1, 2, { type: 'message_end', runId, turn: 1, entry: stored })
}
const withCalls = (...ids: string[]): AssistantMessage => ({
  role: 'assistant',
  model: 'm',
  stopReason: 'calls',
  parts: ids.map((id) => ({ type: 'call', id, name: 'write_file', arguments: '{}' }))
})
const done = (callId: string): ToolMessage => ({ role: 'tool', callId, name: 'write_file', code: 'ok', text: 'written', durationMs: 3 })
const messages = (store: Store): unknown[] => messageEntries([...store.entries.all(sessionId)]).map((e) => e.message)

describe('after a killed process', () => {
  it('the half answer that was on the disk becomes an entry, and the run says that it was interrupted', () => {
    const store = leftBehind()
    store.events.append(sessionId, 2, 2, { type: 'message_start', runId, turn: 1, entryId: 'half', parentId: null, model: 'm' })
    for (const [i, delta] of ['Half ', 'an answer'].entries())
      store.events.append(sessionId, 3 + i, 2, { type: 'message_update', runId, turn: 1, entryId: 'half', part: 'text', delta })
    expect(recoverRuns(store, () => 9)).toBe(1)
    expect(messages(store)[1]).toMatchObject({
      role: 'assistant',
      stopReason: 'interrupted',
      parts: [{ type: 'text', text: 'Half an answer' }]
    })
    expect(store.runs.latest(sessionId)?.run).toMatchObject({ state: 'interrupted', cause: { kind: 'interrupted' }, endedAt: 9 })
    expect(store.sessions.find(sessionId)?.state).toBe('interrupted')
    expect(store.events.after(sessionId, 0, 99).at(-1)).toMatchObject({ type: 'agent_end', state: 'interrupted' })
  })

  it('each call is known as done, not begun or unknown, in call order', () => {
    const store = leftBehind()
    entry(store, withCalls('1', '2', '3', '4'))
    for (const [i, id] of ['1', '2', '3', '4'].entries()) store.runs.addCall(runId, 1, i, id, 'write_file')
    for (const id of ['2', '3']) store.runs.dispatch(runId, id, 5)
    store.runs.finishCall(runId, '3', done('3'), undefined)
    recoverRuns(store, () => 9)
    expect(messages(store).slice(2)).toMatchObject([
      { callId: '1', code: 'interrupted' },
      { callId: '2', code: 'unknown_outcome' },
      { callId: '3', code: 'ok', text: 'written' },
      { callId: '4', code: 'interrupted' }
    ])
  })

  it('results that were in the tree are not added again', () => {
    const store = leftBehind()
    entry(store, withCalls('1', '2'))
    for (const [i, id] of ['1', '2'].entries()) store.runs.addCall(runId, 1, i, id, 'write_file')
    entry(store, done('1'))
    recoverRuns(store, () => 9)
    expect(messages(store).slice(2)).toMatchObject([
      { callId: '1', code: 'ok' },
      { callId: '2', code: 'interrupted' }
    ])
  })

  it('a run that waits for an answer goes on waiting, and its queue is held', () => {
    const store = leftBehind()
    entry(store, withCalls('1'))
    store.runs.addCall(runId, 1, 0, '1', 'write_file')
    const approval = { id: 'q', runId, callId: '1', tool: 'write_file', label: 'write' as const, arguments: '{}', askedAt: 1 }
    store.runs.ask({ ...approval, preview: { kind: 'arguments' } }, sessionId, '')
    store.inbox.add(sessionId, { id: 'i', kind: 'steer', text: 'left', at: 1, position: 1, held: false })
    recoverRuns(store, () => 9)
    expect(store.runs.openApprovals(sessionId)).toHaveLength(1)
    expect(store.runs.open()).toHaveLength(1)
    expect(store.inbox.waiting(sessionId)).toMatchObject([{ id: 'i', held: true }])
    const before = store.events.lastSeq(sessionId)
    recoverRuns(store, () => 10)
    expect(store.events.lastSeq(sessionId), 'recovering twice changes nothing').toBe(before)
  })
})
