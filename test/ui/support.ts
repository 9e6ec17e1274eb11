// A window without a host: the app's state and intents that remember what they were asked.
import type { Component } from 'svelte'
import { render } from '@testing-library/svelte'
import { vi } from 'vitest'
import type { AppState } from '../../src/shared/contract'
import type { EventDraft, SessionEvent } from '../../src/shared/event'
import type { AssistantMessage, Message } from '../../src/shared/message'
import type { Entry, Session } from '../../src/shared/session'
import { emptyView, fold, type SessionView } from '../../src/shared/view'
import type { Api } from '../../src/renderer/src/lib/api'
import { AppView } from '../../src/renderer/src/lib/app-state.svelte'
import { Intents } from '../../src/renderer/src/lib/intents'
import Host from './Host.svelte'

export const SESSION: Session = {
  id: 's1',
  title: 'Notes',
  workspace: '/home/ada/notes',
  model: 'ollama:qwen3',
  archived: false,
  mode: 'ask',
  steerMode: 'one-at-a-time',
  followUpMode: 'one-at-a-time',
  createdAt: 1,
  updatedAt: 1,
  state: 'ready'
}

const APP: AppState = {
  version: '0.1.0',
  host: 'test',
  home: '/home/ada',
  workspace: '/home/ada/notes',
  defaultModel: 'ollama:qwen3',
  models: [{ id: 'ollama:qwen3', name: 'qwen3', source: 'ollama', tools: true, ready: true }],
  starter: { state: 'absent' },
  engine: { state: 'stopped' },
  ollama: { reachable: true, url: 'http://127.0.0.1:11434' },
  storage: { state: 'ok', message: '' },
  sandbox: { kind: 'bubblewrap' },
  policy: { path: '/home/ada/.tau/policy.json', exists: true, mode: 'ask', rules: [] },
  notices: []
}

/** What a browser has and jsdom has not. */
export function completeJsdom(): void {
  HTMLCanvasElement.prototype.getContext = () => null
  vi.stubGlobal('matchMedia', (media: string) => ({ media, matches: false, addEventListener: vi.fn(), removeEventListener: vi.fn() }))
  vi.stubGlobal(
    'ResizeObserver',
    class {
      observe = vi.fn()
      unobserve = vi.fn()
      disconnect = vi.fn()
    }
  )
}

/** An API whose every call is a spy that succeeds with nothing; `parts` says otherwise. */
export function fakeApi(parts: Record<string, unknown> = {}) {
  const calls: [string, unknown][] = []
  const group = (name: string): unknown =>
    new Proxy(
      {},
      {
        get: (_target, method) => (input: unknown, options?: unknown) => {
          const path = `${name}.${String(method)}`
          calls.push([path, input])
          const part = parts[path]
          return typeof part === 'function' ? (part as (i: unknown, o: unknown) => unknown)(input, options) : Promise.resolve(part ?? {})
        }
      }
    )
  return {
    api: Object.fromEntries(
      ['app', 'sessions', 'run', 'queue', 'side', 'policy', 'undo', 'jobs', 'output'].map((name) => [name, group(name)])
    ) as Api,
    calls
  }
}

export interface Setting {
  readonly app?: Partial<AppState>
  readonly api?: Record<string, unknown>
}

/** Draws a component with everything that the shell hands down. */
export function draw<P extends object>(component: Component<P>, props: P, { app = {}, api = {} }: Setting = {}) {
  const state = new AppView()
  state.app = { ...APP, ...app }
  state.link = 'connected'
  const fake = fakeApi(api)
  const drawn = render(Host, {
    props: {
      component: component as Component<Record<string, unknown>>,
      given: Object.fromEntries(Object.entries(props)),
      state,
      intents: new Intents(fake.api)
    }
  })
  const update = (next: P): Promise<void> => drawn.rerender({ given: Object.fromEntries(Object.entries(next)) })
  return { ...drawn, state, calls: fake.calls, update }
}

let ids = 0
/** A view made by events, as in life. */
export function viewAfter(session: Session, ...drafts: EventDraft[]): SessionView {
  let view = emptyView(session)
  for (const draft of drafts) view = fold(view, eventOf(draft, view.seq + 1, session.id))
  return view
}
export const eventOf = (draft: EventDraft, seq: number, sessionId = SESSION.id): SessionEvent => ({
  ...draft,
  sessionId,
  seq,
  at: 1_000 + seq
})

export const entry = (message: Message, parentId: string | null, id = `e${String(++ids)}`): Entry => ({
  id,
  sessionId: SESSION.id,
  parentId,
  at: 1_000,
  type: 'message',
  message
})
export const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })
export const answer = (text: string, more: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: 'assistant',
  parts: [{ type: 'text', text }],
  model: SESSION.model,
  stopReason: 'stop',
  ...more
})
export const started: EventDraft = { type: 'agent_start', runId: 'r1', model: SESSION.model }
