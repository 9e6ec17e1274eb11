// What the person says while a run is going on (spec Q): waiting messages, their order and kinds, and the moment in which the model gets them.
import type { UserMessage } from '../../shared/message'
import type { InboxItem, MessageEntry } from '../../shared/session'
import { newId } from '../store/id'
import { type Add, added, type Desk } from './desk'
import type { Runs } from './run/runs'
import { done, notFound, type Outcome } from './scope'

export interface Prompt {
  readonly text: string
  /** Made by who sends it: the same prompt sent twice counts once. */
  readonly itemId: string
  /** Where a branch begins (null: at the root); undefined follows the head. */
  readonly parentId?: string | null | undefined
  readonly kind?: InboxItem['kind'] | undefined
}
export interface Inbox {
  /** Stores a message that waits; false when it is known. An interrupting one stands first. */
  add(prompt: Prompt): boolean
  withdraw(itemId: string): Outcome<{ text: string }>
  edit(itemId: string, change: { text?: string | undefined; kind?: InboxItem['kind'] | undefined }): Outcome<InboxItem>
  move(itemId: string, before: string | null): Outcome<InboxItem>
  /** Lets held messages go. */
  release(itemId: string | undefined): Outcome<{ seq: number }>
  /** Takes what is due into the conversation, in one transaction with its receipt. */
  readonly take: (turn: number, atEnd: boolean) => readonly UserMessage[] | Promise<readonly UserMessage[]>
  /** Begins a run with the first message that waits and is not held. */
  releaseQueue(runs: Runs): void
}

export function createInbox(desk: Desk): Inbox {
  const { id, scope, log } = desk
  const { store } = scope
  const waiting = (): readonly InboxItem[] => (desk.queue ??= store.inbox.waiting(id))
  /** The queue is looked at before every request, so it is read only when it changed. */
  function commit<T>(work: (add: Add) => T): T {
    desk.queue = undefined
    return log.commit(work)
  }
  waiting() // read while the session is opened, and not on the way of its first prompt
  const find = (itemId: string): InboxItem | undefined => waiting().find((i) => i.id === itemId)
  const gone = (): Outcome<never> => notFound('This message does not wait any more.')

  function change(next: InboxItem): Outcome<InboxItem> {
    commit((add) => {
      store.inbox.change(id, next)
      add({ type: 'queue', state: 'queued', item: next })
    })
    return done(next)
  }

  /** A place before everything (`first`) or after it. */
  function place(first: boolean): number {
    const places = waiting().map((i) => i.position)
    if (places.length === 0) return scope.now()
    return first ? Math.min(...places) - 1 : Math.max(...places, scope.now()) + 1
  }

  function take(turn: number, atEnd: boolean): readonly UserMessage[] | Promise<readonly UserMessage[]> {
    const { active } = desk
    const due = active ? dueNow(waiting(), atEnd) : []
    if (!active || due.length === 0) return []
    const runId = active.run.id
    const said = due.map((item) => ({ item, entry: entryFor(item, turn) }))
    for (const [i, { entry }] of said.entries()) entry.parentId = i === 0 ? active.tip : (said[i - 1]?.entry.id ?? null)
    const kept = log.persist((add) => {
      for (const { item, entry } of said) {
        store.inbox.take(id, item.id, runId, turn)
        add({ type: 'queue', runId, turn, state: 'taken', item, entryId: entry.id })
        store.entries.add(entry)
        add({ type: 'message_end', runId, turn, entry })
      }
    }, active.stop.signal)
    const messages = (): UserMessage[] => {
      desk.queue = undefined
      for (const { entry } of said) added(desk, entry, active)
      return said.map(({ entry }) => entry.message as UserMessage)
    }
    return kept ? kept.then(messages) : messages()
  }

  /** Interrupting words first, then steers, then (at the end) follow-ups: one, or all of that kind, as the session's modes say. */
  function dueNow(items: readonly InboxItem[], atEnd: boolean): InboxItem[] {
    const here = items.filter((i) => !i.held && i.parentId === undefined)
    const interrupting = here.filter((i) => i.kind === 'interrupt')
    if (interrupting.length > 0) return interrupting
    const steers = here.filter((i) => i.kind === 'steer')
    if (steers.length > 0) return desk.info.steerMode === 'all' ? steers : steers.slice(0, 1)
    const later = atEnd ? here.filter((i) => i.kind === 'follow-up') : []
    return desk.info.followUpMode === 'all' ? later : later.slice(0, 1)
  }

  const entryFor = ({ kind, text, at }: InboxItem, turn: number): MessageEntry => ({
    id: newId(),
    sessionId: id,
    parentId: null,
    at: scope.now(),
    type: 'message',
    message: { role: 'user', parts: [{ type: 'text', text }], said: { kind, at, turn } }
  })

  return {
    take,
    add({ itemId, text, kind = 'follow-up', parentId }) {
      const position = place(kind === 'interrupt')
      const item: InboxItem = {
        id: itemId,
        kind,
        text,
        at: scope.now(),
        position,
        held: false,
        ...(parentId !== undefined && { parentId })
      }
      return commit((add) => {
        const isNew = store.inbox.add(id, item)
        if (isNew) add({ type: 'queue', state: 'queued', item })
        return isNew
      })
    },
    withdraw(itemId) {
      const item = find(itemId)
      if (!item) return gone()
      commit((add) => {
        store.inbox.withdraw(id, itemId)
        add({ type: 'queue', state: 'withdrawn', item })
      })
      return done({ text: item.text })
    },
    edit(itemId, { text, kind }) {
      const item = find(itemId)
      if (!item) return gone()
      const position = kind === 'interrupt' && item.kind !== 'interrupt' ? place(true) : item.position
      return change({ ...item, position, text: text ?? item.text, kind: kind ?? item.kind })
    },
    move(itemId, before) {
      const item = find(itemId)
      if (!item) return gone()
      const others = waiting().filter((i) => i.id !== itemId)
      const next = before === null ? others.length : others.findIndex((i) => i.id === before)
      if (next === -1) return gone()
      const [low, high] = [others[next - 1]?.position, others[next]?.position]
      const position = low === undefined ? (high ?? item.position) - 1 : high === undefined ? low + 1 : (low + high) / 2
      return change({ ...item, position })
    },
    release(itemId) {
      const held = waiting().filter((i) => i.held && (itemId === undefined || i.id === itemId))
      if (held.length === 0) return notFound('No held message waits.')
      commit((add) => {
        for (const item of held) {
          const next = { ...item, held: false }
          store.inbox.change(id, next)
          add({ type: 'queue', state: 'queued', item: next })
        }
      })
      return done({ seq: log.lastSeq })
    },
    releaseQueue(runs) {
      const next = waiting().find((i) => !i.held)
      if (!next || desk.active) return
      runs.startWith(next.parentId === undefined ? desk.head : next.parentId, next.text, (run, add: Add, entry) => {
        desk.queue = undefined
        store.inbox.take(id, next.id, run.id, 1)
        add({ type: 'queue', runId: run.id, turn: 1, state: 'taken', item: next, entryId: entry.id })
        return true
      })
    }
  }
}
