// One session: the only writer of its tree (design §3.2). It takes intents (prompt, stop, answer, go to …), starts runs, and stores and shows
// what happens. This file is the list of what can be asked of a session; the work is in the files beside it.
import type { Allowance, Page, RunReport, Snapshot, TreeNode } from '../../shared/contract'
import type { SessionEvent } from '../../shared/event'
import type { Mode } from '../../shared/policy'
import type { Answer, InboxItem, QueueMode, Session, SideBranch, SideEnding } from '../../shared/session'
import { setTimeout as sleep } from 'node:timers/promises'
import { createBranches } from './branches'
import { change, type Desk, isEntry } from './desk'
import { createInbox, type Prompt } from './inbox'
import { isBusy, openLog } from './log'
import { createApprovals } from './run/approvals'
import { createRuns, type Runs } from './run/runs'
import { conflict, done, notFound, type Outcome, type SessionScope } from './scope'
import { createUndoIntents, type UndoIntents } from './undo-intents'
import { olderPage, replayOf, runReports, snapshotOf, treeNodes } from './snapshot'

interface Accepted {
  readonly accepted: 'started' | 'queued' | 'known'
  readonly seq: number
}

export interface SessionHandle extends UndoIntents {
  readonly info: Session
  snapshot(): Snapshot
  older(before: string, limit: number): Outcome<Page>
  tree(): TreeNode[]
  runs(): RunReport[]
  replay(runId: string): Outcome<Generator<SessionEvent>>
  watch(after: number, signal: AbortSignal): AsyncGenerator<SessionEvent>
  /** Resolves when the words would survive a power cut; the run begins before that. */
  prompt(prompt: Prompt): Promise<Outcome<Accepted>>
  retry(more?: Allowance): Promise<Outcome<{ seq: number }>>
  /** False when nothing was running. */
  stop(): boolean
  answer(approvalId: string, answer: Answer): Promise<Outcome<{ seq: number }>>
  /** Stops one call; false when it was over. */
  cancelCall(callId: string): boolean
  setMode(mode: Mode): Session
  withdraw(itemId: string): Promise<Outcome<{ text: string }>>
  edit(itemId: string, change: { text?: string | undefined; kind?: InboxItem['kind'] | undefined }): Promise<Outcome<InboxItem>>
  move(itemId: string, before: string | null): Promise<Outcome<InboxItem>>
  release(itemId?: string): Promise<Outcome<{ seq: number }>>
  goTo(where: {
    entryId: string | null
    leaf?: boolean | undefined
    summary?: boolean | undefined
  }): Promise<Outcome<{ head: string | null }>>
  label(entryId: string, label: string): Outcome<{ seq: number }>
  beginSide(entryId: string | null | undefined, name: string): Outcome<SideBranch>
  endSide(sideId: string, ending: SideEnding): Promise<Outcome<{ head: string | null }>>
  rename(title: string): Session
  archive(archived: boolean): Session
  setModel(model: string): Session
  setQueueModes(steer: QueueMode | undefined, followUp: QueueMode | undefined): Session
  /** Into the bin (a run is stopped), or out of it. */
  bin(binned: boolean): Session
  /** Tau ends: runs are stopped; one that waits for a person is left as it is, to be answered after the next start. */
  leave(): Promise<void>
  /** Resolves when no run is going on in this process and everything about the last one is stored (spec L6). */
  waitForIdle(): Promise<void>
}

/** How long an intent waits for a database that another program holds. */
const BUSY_PATIENCE_MS = 90_000
const BUSY_AGAIN_MS = 200

/** Opens a stored session; undefined when there is none of that id. Reads a few rows, however long the session is. */
export function openSession(id: string, scope: SessionScope): SessionHandle | undefined {
  const { store } = scope
  const stored = store.sessions.find(id)
  if (!stored) return undefined
  const { head, ...info } = stored
  const log = openLog(store, id, scope.now, scope.storage)
  const desk: Desk = {
    id,
    scope,
    log,
    info,
    head,
    active: undefined,
    endIsMissing: false,
    context: undefined,
    queue: undefined,
    summing: undefined
  }
  const inbox = createInbox(desk)
  const runs: Runs = createRuns(desk, {
    approvals: createApprovals(desk),
    takeWords: (turn, atEnd) => inbox.take(turn, atEnd),
    releaseQueue: () => {
      inbox.releaseQueue(runs)
    }
  })

  /** Every intent first makes up for an end that could not be stored, and is acknowledged when the disk has it. */
  async function kept<T>(intent: () => Outcome<T> | Promise<Outcome<T>>): Promise<Outcome<T>> {
    for (const until = performance.now() + BUSY_PATIENCE_MS; ;) {
      try {
        runs.makeUp()
        const outcome = await intent()
        await store.flush()
        return outcome
      } catch (error) {
        if (!isBusy(error) || performance.now() > until) throw error
        await sleep(BUSY_AGAIN_MS) // a backup program, say: it lets go of the database, and the words are here still
      }
    }
  }

  function prompt(given: Prompt): Outcome<Accepted> {
    const { parentId, itemId, text, kind = 'follow-up' } = given
    if (parentId != null && !isEntry(desk, parentId)) return notFound('There is no such message in this session.')
    if (desk.info.binnedAt !== undefined) return conflict('This session is in the bin. Restore it first.')
    if (desk.active) {
      const isNew = inbox.add(given)
      if (isNew && kind === 'interrupt') runs.interrupt()
      return accepted(isNew ? 'queued' : 'known')
    }
    const at = scope.now()
    const started = runs.startWith(parentId === undefined ? desk.head : parentId, text, (run) =>
      store.inbox.addTaken(id, { id: itemId, text, at }, run.id)
    )
    return accepted(started ? 'started' : 'known')
  }
  const accepted = (how: Accepted['accepted']): Outcome<Accepted> => done({ accepted: how, seq: log.lastSeq })

  return {
    get info() {
      return desk.info
    },
    snapshot: () => snapshotOf(desk),
    older: (before, limit) => {
      const page = olderPage(desk, before, limit)
      return page ? done(page) : notFound('There is no such message in this session.')
    },
    tree: () => treeNodes(desk),
    runs: () => runReports(id, store.runs),
    replay: (runId) => {
      const events = replayOf(desk, runId)
      return events ? done(events) : notFound('There is no such run in this session.')
    },
    watch: log.watch,
    prompt: (given) => kept(() => prompt(given)),
    retry: (more) => kept(() => runs.retry(more)),
    stop() {
      desk.summing?.abort()
      return runs.stop() || desk.summing !== undefined
    },
    answer: (approvalId, answer) => kept(() => runs.answer(approvalId, answer)),
    withdraw: (itemId) => kept(() => inbox.withdraw(itemId)),
    edit: (itemId, next) =>
      kept(() => {
        const edited = inbox.edit(itemId, next)
        if (edited.ok && next.kind === 'interrupt' && !edited.value.held) runs.interrupt()
        return edited
      }),
    move: (itemId, before) => kept(() => inbox.move(itemId, before)),
    release: (itemId) =>
      kept(() => {
        const released = inbox.release(itemId)
        if (released.ok) inbox.releaseQueue(runs)
        return released
      }),
    ...createBranchIntents(desk, kept),
    ...createUndoIntents(desk),
    cancelCall: (callId) => runs.cancelCall(callId),
    setMode: (mode) =>
      change(desk, { ...desk.info, mode }, () => {
        store.sessions.setMode(id, mode)
      }),
    rename: (title) =>
      change(desk, { ...desk.info, title }, () => {
        store.sessions.rename(id, title)
      }),
    archive: (archived) =>
      change(desk, { ...desk.info, archived }, () => {
        store.sessions.archive(id, archived)
      }),
    setModel: (model) =>
      change(desk, { ...desk.info, model }, () => {
        store.sessions.setModel(id, model)
      }),
    setQueueModes: (steer = desk.info.steerMode, followUp = desk.info.followUpMode) =>
      change(desk, { ...desk.info, steerMode: steer, followUpMode: followUp }, () => {
        store.sessions.setQueueModes(id, steer, followUp)
      }),
    bin(binned) {
      if (binned) runs.stop()
      const { binnedAt, ...rest } = desk.info
      const at = binned ? scope.now() : undefined
      return change(desk, at === undefined ? rest : { ...rest, binnedAt: at }, () => {
        store.sessions.bin(id, at)
      })
    },
    async leave() {
      desk.summing?.abort()
      runs.leave()
      await idle(desk)
    },
    waitForIdle: () => idle(desk)
  }
}

function createBranchIntents(
  desk: Desk,
  kept: <T>(intent: () => Outcome<T> | Promise<Outcome<T>>) => Promise<Outcome<T>>
): Pick<SessionHandle, 'goTo' | 'label' | 'beginSide' | 'endSide'> {
  const branches = createBranches(desk)
  return {
    goTo: (where) => kept(() => branches.goTo(where)),
    label: (entryId, name) => branches.label(entryId, name),
    beginSide: (entryId, name) => branches.beginSide(entryId, name),
    endSide: (sideId, ending) => kept(() => branches.endSide(sideId, ending))
  }
}

async function idle(desk: Desk): Promise<void> {
  while (desk.active && !desk.active.parked) await desk.active.done
}
