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
  const session = (id: string): SessionHandle => found(core.sessions.get(id), `There is no session ${id}.`)
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
      setMode: os.sessions.setMode.handler(({ input }) => session(input.sessionId).setMode(input.mode)),
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
      cancelCall: os.run.cancelCall.handler(({ input }) => ({ cancelled: session(input.sessionId).cancelCall(input.callId) })),
      answer: os.run.answer.handler(async ({ input }) => valueOf(await session(input.sessionId).answer(input.approvalId, input.answer))),
      goTo: os.run.goTo.handler(async ({ input }) => valueOf(await session(input.sessionId).goTo(input)))
    },
    queue: {
      withdraw: os.queue.withdraw.handler(async ({ input }) => valueOf(await session(input.sessionId).withdraw(input.itemId))),
      edit: os.queue.edit.handler(async ({ input }) => valueOf(await session(input.sessionId).edit(input.itemId, input))),
      move: os.queue.move.handler(async ({ input }) => valueOf(await session(input.sessionId).move(input.itemId, input.before))),
      release: os.queue.release.handler(async ({ input }) => valueOf(await session(input.sessionId).release(input.itemId)))
    },
    policy: {
      show: os.policy.show.handler(() => core.policy.show()),
      test: os.policy.test.handler(({ input }) => valueOf(core.policy.test(input), 'UNUSABLE')),
      grants: os.policy.grants.handler(() => core.policy.grants()),
      revoke: os.policy.revoke.handler(({ input }) => ({ revoked: core.policy.revoke(input.grantId) }))
    },
    undo: {
      list: os.undo.list.handler(({ input }) => session(input.sessionId).keptCalls()),
      plan: os.undo.plan.handler(async ({ input }) => valueOf(await session(input.sessionId).planUndo(input.target))),
      apply: os.undo.apply.handler(async ({ input }) => valueOf(await session(input.sessionId).applyUndo(input.token))),
      usage: os.undo.usage.handler(() => core.undo.usage()),
      clear: os.undo.clear.handler(() => core.undo.clear())
    },
    jobs: {
      read: os.jobs.read.handler(({ input }) => found(core.jobs.read(input.jobId, input.lines), `There is no job ${input.jobId}.`)),
      stop: os.jobs.stop.handler(async ({ input }) => found(await core.jobs.stop(input.jobId), `There is no job ${input.jobId}.`))
    },
    output: {
      read: os.output.read.handler(async ({ input }) =>
        found(await core.readOutput(input.ref, input.from, input.lines), `The output ${input.ref} is not kept any more.`)
      )
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

function found<T>(value: T | undefined, message: string): T {
  if (value !== undefined) return value
  throw new ORPCError('NOT_FOUND', { message, defined: true })
}

function valueOf<T>(outcome: Outcome<T> | { ok: false; message: string }, code?: 'UNUSABLE'): T {
  if (outcome.ok) return outcome.value
  throw new ORPCError(code ?? ('code' in outcome ? outcome.code : 'CONFLICT'), { message: outcome.message, defined: true })
}
