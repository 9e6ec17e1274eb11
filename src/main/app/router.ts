// The API, method by method: checks what the contract cannot know, hands the intent to the session, turns refusals into typed errors.
import { implement, ORPCError, withEventMeta } from '@orpc/server'
import { contract } from '../../shared/contract'
import type { Outcome } from '../session/scope'
import type { SessionHandle } from '../session/session'
import type { Core } from './core'

export function createRouter(core: Core) {
  const os = implement(contract).use(async ({ next }) => {
    try {
      return await next()
    } catch (error) {
      throw core.explain(error)
    }
  })
  const session = (id: string): SessionHandle => {
    const found = core.sessions.get(id)
    if (!found) throw new ORPCError('NOT_FOUND', { message: `There is no session ${id}.`, defined: true })
    return found
  }
  return os.router({
    app: {
      watch: os.app.watch.handler(({ signal }) => core.feed.watch(signal ?? NEVER)),
      refresh: os.app.refresh.handler(() => core.refresh()),
      fetchStarter: os.app.fetchStarter.handler(() => core.fetchStarter()),
      restartEngine: os.app.restartEngine.handler(() => core.restartEngine())
    },
    sessions: {
      list: os.sessions.list.handler(({ input }) => core.sessions.list(input.archived ?? false)),
      create: os.sessions.create.handler(async ({ input }) => valueOf(await core.createSession(input), 'UNUSABLE')),
      rename: os.sessions.rename.handler(({ input }) => session(input.sessionId).rename(input.title)),
      archive: os.sessions.archive.handler(({ input }) => session(input.sessionId).archive(input.archived)),
      setModel: os.sessions.setModel.handler(({ input }) => session(input.sessionId).setModel(input.model)),
      open: os.sessions.open.handler(({ input }) => session(input.sessionId).snapshot()),
      watch: os.sessions.watch.handler(async function* ({ input, lastEventId, signal }) {
        // a client that reconnects tells the last number it saw, which may be later than the one it began with (spec H5)
        const after = Math.max(input.after, Number(lastEventId ?? 0))
        for await (const event of session(input.sessionId).watch(after, signal ?? NEVER))
          yield withEventMeta(event, { id: String(event.seq) })
      })
    },
    run: {
      prompt: os.run.prompt.handler(({ input }) => valueOf(session(input.sessionId).prompt(input))),
      withdraw: os.run.withdraw.handler(({ input }) => valueOf(session(input.sessionId).withdraw(input.itemId))),
      retry: os.run.retry.handler(({ input }) => valueOf(session(input.sessionId).retry())),
      stop: os.run.stop.handler(({ input }) => ({ stopped: session(input.sessionId).stop() })),
      answer: os.run.answer.handler(({ input }) => valueOf(session(input.sessionId).answer(input.approvalId, input.answer))),
      goTo: os.run.goTo.handler(({ input }) => valueOf(session(input.sessionId).goTo(input.entryId)))
    }
  })
}
export type Router = ReturnType<typeof createRouter>

const NEVER = new AbortController().signal

function valueOf<T>(outcome: Outcome<T> | { ok: false; message: string }, code?: 'UNUSABLE'): T {
  if (outcome.ok) return outcome.value
  throw new ORPCError(code ?? ('code' in outcome ? outcome.code : 'CONFLICT'), { message: outcome.message, defined: true })
}
