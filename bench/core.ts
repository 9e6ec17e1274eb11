// All that rows know of Tau's core, in one place: when the core changes, this file follows it and the rows stay as they are. It gives them a model
// that does a constant amount of work for a request, tools, a core to run them in, and sessions that are long already.
import { rmSync } from 'node:fs'
import type { z } from 'zod'
import type { Tool } from '../src/main/loop/tool'
import type { ModelEvent, ModelRequest, StreamFn } from '../src/main/models/model'
import { DEFAULT_BUDGET } from '../src/main/policy/budget'
import type { SessionHandle } from '../src/main/session/session'
import { newId } from '../src/main/store/id'
import { openStore } from '../src/main/store/store'
import type { SessionEvent } from '../src/shared/event'
import { type Message, textOf } from '../src/shared/message'
import { freshFolder, type Harness, type HarnessOptions, openHarness, say } from '../test/support/harness'
import { saidAt } from './history'

export { say }

/** Tokens of the context unless a row says otherwise: what the larger cloud models take. */
const WINDOW = 200_000
const MODEL = 'scripted:test'

// --- models

/** What the model answers: words, or a call. `arguments` is JSON. */
type Reply = { readonly text: string } | { readonly call: string; readonly arguments: string }

/** A model that answers request `n` (from 1) with what `reply` says. */
export function answering(reply: (n: number, messages: ModelRequest['messages']) => Reply | Promise<Reply>): StreamFn {
  let n = 0
  return async function* ({ messages }): AsyncGenerator<ModelEvent> {
    const said = await reply(++n, messages)
    if ('text' in said) yield { type: 'text', delta: said.text }
    else yield { type: 'call', name: said.call, arguments: said.arguments }
    yield { type: 'end', stopReason: 'text' in said ? 'stop' : 'calls', usage: {} }
  }
}

/** A model that answers with `count` pieces of text, `together` of them at a time, as they come off a socket. */
export function streaming(count: number, piece: string, together: number): StreamFn {
  return async function* (): AsyncGenerator<ModelEvent> {
    for (let i = 0; i < count; i++) {
      yield { type: 'text', delta: piece }
      if (i % together === 0) await new Promise(setImmediate)
    }
    yield { type: 'end', stopReason: 'stop', usage: {} }
  }
}

/** Whether a request holds these words of the person. */
export const holds = (messages: ModelRequest['messages'], words: string): boolean =>
  messages.some((m) => m.role === 'user' && textOf(m) === words)

// --- tools

/** A tool that only reads, so that nobody is asked and nothing waits for the disk. What it throws fails the call. */
export const tool = (name: string, parameters: z.ZodType, execute: (signal: AbortSignal) => Promise<string>): Tool => ({
  name,
  description: name,
  label: 'readonly',
  replay: 'safe',
  parameters,
  execute: async (_args, { signal }) => ({ code: 'ok', text: await execute(signal) })
})

// --- the core

interface CoreOptions extends Pick<HarnessOptions, 'home' | 'tools' | 'window'> {
  /** Turns of a tool that a run may take; default: what a person gets who changes nothing. */
  readonly turns?: number
}

/** The whole core on a database in a file: in a folder that is removed when it is closed, or in `home`. */
export function openCore(stream: StreamFn, { turns, window = WINDOW, ...rest }: CoreOptions): Harness {
  const budget = turns === undefined ? DEFAULT_BUDGET : { ...DEFAULT_BUDGET, turns: turns + 1, calls: turns }
  return openHarness(stream, { ...rest, window, budget })
}

/** Reads the events of a session from the first one on, as a window would, until a run ends; returns how many there were. */
export async function readToEnd(session: SessionHandle, look: (event: SessionEvent) => void = () => undefined): Promise<number> {
  let events = 0
  for await (const event of session.watch(0, new AbortController().signal)) {
    events++
    look(event)
    if (event.type === 'agent_end') break
  }
  return events
}

/** The words of each message of the session's newest part, oldest first, as the database has them. */
export const storedWords = (session: SessionHandle): string[] =>
  session.snapshot().entries.flatMap((entry) => (entry.type === 'message' ? [textOf(entry.message)] : []))

/** Says something in the middle of a run; it is to be heard before the next request. */
export const steerWith = (session: SessionHandle, text: string): Promise<unknown> =>
  session.prompt({ text, itemId: 'steering', kind: 'steer' })

// --- long sessions

export interface StoredSession {
  readonly home: string
  readonly id: string
  remove(): void
}

/** A data folder with one session of `count` messages, not open: written as an import writes, through the store's own tables. */
export function storeSession(count: number): StoredSession {
  const home = freshFolder('bench')
  const store = openStore(home, 'bench')
  const id = newId()
  store.write(() => {
    const modes = { steerMode: 'one-at-a-time', followUpMode: 'one-at-a-time' } as const
    const about = { title: 'long', workspace: home, model: MODEL, archived: false, mode: 'ask', ...modes, state: 'ready' } as const
    const session = { id, ...about, createdAt: 0, updatedAt: 0 }
    store.sessions.insert(session)
    store.events.append(id, 1, 0, { type: 'session', session })
    let parentId: string | null = null
    for (let i = 0; i < count; i++) {
      const next = newId()
      store.entries.add({ id: next, sessionId: id, parentId, at: i, type: 'message', message: messageAt(i) })
      parentId = next
    }
  })
  store.close()
  return {
    home,
    id,
    remove: () => {
      rmSync(home, { recursive: true, force: true })
    }
  }
}

/** Throws when there is no such session. */
export function openStored({ sessions }: Harness, id: string): SessionHandle {
  const session = sessions.get(id)
  if (!session) throw new Error('the session is gone')
  return session
}

function messageAt(i: number): Message {
  const said = saidAt(i)
  const words = { type: 'text', text: said.text } as const
  switch (said.who) {
    case 'user':
      return { role: 'user', parts: [words] }
    case 'caller':
      return {
        role: 'assistant',
        model: MODEL,
        stopReason: 'calls',
        parts: [words, { type: 'call', id: said.call, name: 'look', arguments: '{}' }]
      }
    case 'tool':
      return { role: 'tool', callId: said.call, name: 'look', code: 'ok', text: said.text, durationMs: 1 }
    case 'assistant':
      return { role: 'assistant', model: MODEL, stopReason: 'stop', parts: [words] }
  }
}
