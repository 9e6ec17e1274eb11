// A real session on a real database in a temporary folder, with a scripted model: what most tests of the core stand on.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { EventOf, EventType, SessionEvent } from '../../src/shared/event'
import type { Session } from '../../src/shared/session'
import { createQueue } from '../../src/main/loop/queue'
import { createRegistry, type Tool } from '../../src/main/loop/tool'
import type { RetryPolicy } from '../../src/main/loop/answer'
import type { SessionScope } from '../../src/main/session/scope'
import type { NameRule, StreamFn } from '../../src/main/models/model'
import { scriptedStream } from '../../src/main/models/scripted/model'
import { parseScript } from '../../src/main/models/scripted/script'
import { type Budget, DEFAULT_BUDGET } from '../../src/main/policy/budget'
import { recoverRuns } from '../../src/main/session/run/recovery'
import type { SessionHandle } from '../../src/main/session/session'
import { createSessions, type Sessions } from '../../src/main/session/sessions'
import { openStore, type Store } from '../../src/main/store/store'
import { outputFiles } from '../../src/main/store/outputs'
import { createUndo } from '../../src/main/undo/undo'
import { allTools } from './built-in'
import { policyOf } from './policy'
import { freshFolder } from './folders'

export { freshFolder } from './folders'

/** The stream of a script; throws on a fault in it. */
export function scripted(text: string): StreamFn {
  const parsed = parseScript(text)
  if (!parsed.ok) throw new Error(parsed.message)
  return scriptedStream(parsed.script)
}

export interface Harness {
  readonly home: string
  readonly workspace: string
  readonly store: Store
  readonly sessions: Sessions
  /** A new session with the harness's model. */
  session(): SessionHandle
  /** The session as one who opens it now would have it: read from the store. */
  reopen(session: SessionHandle): SessionHandle
  close(): Promise<void>
}
export interface HarnessOptions {
  readonly home?: string
  readonly workspace?: string
  readonly tools?: readonly Tool[]
  readonly budget?: Budget
  readonly retry?: RetryPolicy
  readonly report?: SessionScope['report']
  readonly audit?: SessionScope['audit']
  readonly storage?: SessionScope['storage']
  readonly failed?: SessionScope['failed']
  /** Tokens; default 100,000. */
  readonly window?: number
  readonly vision?: boolean
  readonly now?: () => number
  readonly toolNames?: NameRule
  /** Asked before each write: throws as a full disk does. */
  readonly beforeWrite?: () => void
}

export function openHarness(stream: StreamFn, options: HarnessOptions = {}): Harness {
  const home = options.home ?? freshFolder('home')
  const workspace = options.workspace ?? freshFolder('work')
  const store = guarded(openStore(home, 'test'), options.beforeWrite ?? (() => undefined))
  recoverRuns(store, Date.now)
  const outputs = outputFiles(join(home, 'outputs'), Date.now)
  const undo = createUndo({
    store,
    folder: join(home, 'kept'),
    now: options.now ?? Date.now,
    failed: (error) => {
      throw error
    }
  })
  const make = (): Sessions =>
    createSessions({
      store,
      registry: createRegistry(options.tools ?? allTools(outputs)),
      queue: createQueue(),
      outputs,
      undo,
      policy: policyOf(home),
      budget: options.budget ?? DEFAULT_BUDGET,
      openModel: (id) =>
        Promise.resolve({
          ok: true,
          model: {
            ...(options.toolNames && { toolNames: options.toolNames }),
            info: { id, name: id, source: 'scripted', tools: true, ready: true, vision: options.vision ?? false },
            contextWindow: options.window ?? 100_000,
            stream
          }
        }),
      defaultModel: () => 'scripted:test',
      now: options.now ?? Date.now,
      report: options.report ?? (() => undefined),
      audit: options.audit ?? (() => undefined),
      storage: options.storage ?? { trouble: () => undefined, well: () => undefined },
      ...(options.retry && { retry: options.retry }),
      changed: () => undefined,
      ended: () => undefined,
      failed: (what, error) => {
        if (options.failed) options.failed(what, error)
        else throw new Error(what, { cause: error })
      }
    })
  let sessions = make()
  return {
    home,
    workspace,
    store,
    get sessions() {
      return sessions
    },
    session: () => handleOf(sessions, sessions.create({ title: '', workspace, model: 'scripted:test' })),
    reopen: (session) => {
      sessions = make()
      return handleOf(sessions, session.info)
    },
    close: async () => {
      await sessions.close()
      store.close()
      if (options.home === undefined) rmSync(home, { recursive: true, force: true })
      if (options.workspace === undefined) rmSync(workspace, { recursive: true, force: true })
    }
  }
}

const guarded = (store: Store, beforeWrite: () => void): Store => ({
  ...store,
  write: (work) => {
    beforeWrite()
    return store.write(work)
  }
})

function handleOf(sessions: Sessions, session: Pick<Session, 'id'>): SessionHandle {
  const handle = sessions.get(session.id)
  if (!handle) throw new Error('the session is gone')
  return handle
}

let prompts = 0
/** Sends words and waits for the end of what they start. */
export async function say(session: SessionHandle, text: string): Promise<void> {
  const accepted = session.prompt({ text, itemId: `p${String(++prompts)}` })
  await session.waitForIdle()
  const outcome = await accepted
  if (!outcome.ok) throw new Error(outcome.message)
}

/** All stored events of a session. */
export const eventsOf = (store: Store, session: SessionHandle): SessionEvent[] =>
  store.events.after(session.info.id, 0, Number.MAX_SAFE_INTEGER)

/** The next event of a type, from the beginning of the log on; fails the test after two seconds. */
export async function waitFor<T extends EventType>(session: SessionHandle, type: T, count = 1): Promise<EventOf<T>> {
  const stop = AbortSignal.timeout(5_000)
  let seen = 0
  for await (const event of session.watch(0, stop)) if (event.type === type && ++seen === count) return event as EventOf<T>
  throw new Error(`no ${type} event came`)
}
