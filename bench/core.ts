// What rows need of Tau's core: a stream that does a constant amount of work, a tool that takes no time, and sessions that are long already.
import { join } from 'node:path'
import { z } from 'zod'
import type { Tool } from '../src/main/loop/tool'
import type { ModelEvent, ModelRequest, StreamFn } from '../src/main/models/model'
import type { SessionHandle } from '../src/main/session/session'
import { newId } from '../src/main/store/id'
import { openStore, type Store } from '../src/main/store/store'
import type { Message } from '../src/shared/message'

/** Tokens of the context that long sessions are measured with: what the larger cloud models take. */
export const WINDOW = 200_000

/** A stream that answers request `n` (from 1) with what `reply` says: a text, or the name of the tool to call. */
export function answering(reply: (n: number, request: ModelRequest) => { text: string } | { call: string }): StreamFn {
  let n = 0
  return async function* (request): AsyncGenerator<ModelEvent> {
    const said = reply(++n, request)
    if ('text' in said) yield await Promise.resolve({ type: 'text', delta: said.text })
    else yield await Promise.resolve({ type: 'call', name: said.call, arguments: `{"n":${String(n)}}` })
    yield { type: 'end', stopReason: 'text' in said ? 'stop' : 'calls', usage: {} }
  }
}

/** A tool that takes no time and says something else each time: nobody would take it for a circle. */
export function tick(): Tool {
  let n = 0
  return {
    name: 'tick',
    description: 'tick',
    label: 'readonly',
    replay: 'safe',
    parameters: z.object({ n: z.int() }),
    execute: () => Promise.resolve({ code: 'ok', text: `ok ${String(++n)}` })
  }
}

/** Adds a chain of questions and answers to a session: `count` messages of about 250 characters, as Pi's rows store them. */
export function fill(store: Store, sessionId: string, count: number): void {
  store.write(() => {
    let parentId = store.sessions.find(sessionId)?.head ?? null
    for (let i = 0; i < count; i++) {
      const id = newId()
      store.entries.add({ id, sessionId, parentId, at: i, type: 'message', message: messageAt(i) })
      parentId = id
    }
  })
}

const messageAt = (i: number): Message =>
  i % 2 === 0
    ? { role: 'user', parts: [{ type: 'text', text: `Question ${String(i)}: ${'lorem ipsum '.repeat(12)}` }] }
    : {
        role: 'assistant',
        model: 'scripted:test',
        stopReason: 'stop',
        parts: [{ type: 'text', text: `Answer ${String(i)}: ${'dolor sit amet '.repeat(20)}` }]
      }

/** Reads every event of a session as a window would, until a run ends. */
export async function readToEnd(session: SessionHandle, after: number): Promise<number> {
  let events = 0
  for await (const event of session.watch(after, new AbortController().signal)) {
    events++
    if (event.type === 'agent_end') break
  }
  return events
}

/** A data folder with one session of `count` messages, closed again; returns the session's id. */
export function storedSession(home: string, count: number): string {
  const store = openStore(home, 'bench')
  const id = newId()
  const modes = { steerMode: 'one-at-a-time', followUpMode: 'one-at-a-time' } as const
  const base = { id, title: 'long', workspace: join(home, 'work'), model: 'scripted:test', archived: false, ...modes }
  store.sessions.insert({ ...base, createdAt: 1, updatedAt: 1, state: 'ready' })
  fill(store, id, count)
  store.close()
  return id
}
