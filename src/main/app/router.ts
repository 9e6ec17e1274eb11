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
      restartEngine: os.app.restartEngine.handler(() => core.restartEngine()),
      show: os.app.show.handler(() => core.show())
    },
    sessions: {
      list: os.sessions.list.handler(({ input }) => core.sessions.list(input.binned ? 'binned' : input.archived ? 'archived' : 'open')),
      create: os.sessions.create.handler(async ({ input }) => valueOf(await core.createSession(input), 'UNUSABLE')),
      rename: os.sessions.rename.handler(({ input }) => session(input.sessionId).rename(input.title)),
      archive: os.sessions.archive.handler(({ input }) => session(input.sessionId).archive(input.archived)),
      setModel: os.sessions.setModel.handler(({ input }) => session(input.sessionId).setModel(input.model)),
      setQueueModes: os.sessions.setQueueModes.handler(({ input }) => session(input.sessionId).setQueueModes(input.steer, input.followUp)),
      bin: os.sessions.bin.handler(({ input }) => session(input.sessionId).bin(true)),
      restore: os.sessions.restore.handler(({ input }) => session(input.sessionId).bin(false)),
      purge: os.sessions.purge.handler(async ({ input }) => valueOf(await core.sessions.purge(input.sessionId))),
      fork: os.sessions.fork.handler(({ input }) => valueOf(core.sessions.fork(input.sessionId, input.entryId, input.branches ?? false))),
      label: os.sessions.label.handler(({ input }) => valueOf(session(input.sessionId).label(input.entryId, input.label))),
      open: os.sessions.open.handler(({ input }) => session(input.sessionId).snapshot()),
      older: os.sessions.older.handler(({ input }) => valueOf(session(input.sessionId).older(input.before, input.limit))),
      tree: os.sessions.tree.handler(({ input }) => session(input.sessionId).tree()),
      search: os.sessions.search.handler(({ input }) => core.sessions.search(input.words, input.limit ?? 50)),
      runs: os.sessions.runs.handler(({ input }) => session(input.sessionId).runs()),
      replay: os.sessions.replay.handler(async function* ({ input }) {
        for (const event of valueOf(session(input.sessionId).replay(input.runId))) yield await Promise.resolve(event)
      }),
      export: os.sessions.export.handler(async function* ({ input }) {
        for (const piece of inPieces(core.exportSession(session(input.sessionId).info.id, input.format))) yield await Promise.resolve(piece)
      }),
      import: os.sessions.import.handler(({ input }) => valueOf(core.importSession(input), 'UNUSABLE')),
      watch: os.sessions.watch.handler(async function* ({ input, lastEventId, signal }) {
        // a client that reconnects tells the last number it saw, which may be later than the one it began with (spec H5)
        const after = Math.max(input.after, Number(lastEventId ?? 0))
        for await (const event of session(input.sessionId).watch(after, signal ?? NEVER))
          yield withEventMeta(event, { id: String(event.seq) })
      })
    },
    run: {
      prompt: os.run.prompt.handler(async ({ input }) => valueOf(await session(input.sessionId).prompt(input))),
      retry: os.run.retry.handler(async ({ input }) => valueOf(await session(input.sessionId).retry(input.more))),
      stop: os.run.stop.handler(({ input }) => ({ stopped: session(input.sessionId).stop() })),
      answer: os.run.answer.handler(async ({ input }) => valueOf(await session(input.sessionId).answer(input.approvalId, input.answer))),
      goTo: os.run.goTo.handler(async ({ input }) => valueOf(await session(input.sessionId).goTo(input)))
    },
    queue: {
      withdraw: os.queue.withdraw.handler(async ({ input }) => valueOf(await session(input.sessionId).withdraw(input.itemId))),
      edit: os.queue.edit.handler(async ({ input }) => valueOf(await session(input.sessionId).edit(input.itemId, input))),
      move: os.queue.move.handler(async ({ input }) => valueOf(await session(input.sessionId).move(input.itemId, input.before))),
      release: os.queue.release.handler(async ({ input }) => valueOf(await session(input.sessionId).release(input.itemId)))
    },
    side: {
      begin: os.side.begin.handler(({ input }) => valueOf(session(input.sessionId).beginSide(input.entryId, input.name ?? ''))),
      end: os.side.end.handler(async ({ input }) => valueOf(await session(input.sessionId).endSide(input.sideId, input.ending)))
    }
  })
}
export type Router = ReturnType<typeof createRouter>

/** Small pieces put together: a line alone is a small message. */
function* inPieces(pieces: Iterable<string>): Generator<string> {
  let whole = ''
  for (const piece of pieces) {
    whole += piece
    if (whole.length < 64_000) continue
    yield whole
    whole = ''
  }
  if (whole !== '') yield whole
}

const NEVER = new AbortController().signal

function valueOf<T>(outcome: Outcome<T> | { ok: false; message: string }, code?: 'UNUSABLE'): T {
  if (outcome.ok) return outcome.value
  throw new ORPCError(code ?? ('code' in outcome ? outcome.code : 'CONFLICT'), { message: outcome.message, defined: true })
}
