import { toArray } from '../../src/shared/list'
import { messageEntries } from '../../src/shared/tree'
import { ORPCError } from '@orpc/client'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Snapshot } from '../../src/shared/contract'
import type { EventDraft, SessionEvent } from '../../src/shared/event'
import { textOf } from '../../src/shared/message'
import { SessionFollower } from '../../src/renderer/src/lib/session-state.svelte'
import { entry, eventOf, fakeApi, SESSION, user } from './support'

/** A log that a window can open and watch, and that can be cut, or lose events on the way. */
class Log {
  readonly events: SessionEvent[] = []
  readonly afters: number[] = []
  opened = 0
  lose = new Set<number>()
  #wake = Promise.withResolvers<'event' | 'cut'>()

  add(draft: EventDraft): void {
    this.events.push(eventOf(draft, this.events.length + 1))
    this.#signal('event')
  }
  say(text: string): void {
    this.add({ type: 'message_end', entry: entry(user(text), this.#head()) })
  }
  cut(): void {
    this.#signal('cut')
  }
  #signal(what: 'event' | 'cut'): void {
    const { resolve } = this.#wake
    this.#wake = Promise.withResolvers()
    resolve(what)
  }
  #head(): string | null {
    return this.#entries().at(-1)?.id ?? null
  }
  #entries() {
    return this.events.flatMap((e) => (e.type === 'message_end' ? [e.entry] : []))
  }
  open = (): Snapshot => {
    this.opened++
    return {
      seq: this.events.length,
      session: SESSION,
      entries: this.#entries(),
      head: this.#head(),
      approvals: [],
      queue: [],
      notices: [],
      beside: {},
      more: false,
      labels: {},
      sides: [],
      kept: [],
      live: []
    }
  }
  watch = ({ after }: { after: number }): AsyncGenerator<SessionEvent> => {
    this.afters.push(after)
    return this.#stream(after)
  }
  async *#stream(after: number): AsyncGenerator<SessionEvent> {
    for (let seq = after; ;) {
      while (seq < this.events.length) {
        const event = this.events[seq++]
        if (event && !this.lose.delete(event.seq)) yield event
      }
      if ((await this.#wake.promise) === 'cut') throw new Error('the socket was cut')
    }
  }
}

let log: Log
let follower: SessionFollower | undefined
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'requestAnimationFrame', 'cancelAnimationFrame'] })
  log = new Log()
})
afterEach(() => {
  follower?.close()
  vi.useRealTimers()
})

function follow(parts: Record<string, unknown> = {}): SessionFollower {
  const { api } = fakeApi({
    'sessions.open': () => Promise.resolve(log.open()),
    'sessions.watch': (i: { after: number }) => Promise.resolve(log.watch(i)),
    ...parts
  })
  return (follower = new SessionFollower(api, 's1'))
}
const settle = (ms = 1_000): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)
const said = (f: SessionFollower): string[] => messageEntries(f.view ? toArray(f.view.tree.path) : []).map((e) => textOf(e.message))

describe('following a session', () => {
  it('begins with a snapshot and goes on with the events after it', async () => {
    log.say('one')
    const f = follow()
    await settle()
    log.say('two')
    await settle()
    expect(said(f)).toEqual(['one', 'two'])
    expect(log.afters).toEqual([1])
  })

  it('goes on after the last event that it saw when the way was cut, without a new snapshot', async () => {
    const f = follow()
    await settle()
    log.say('one')
    await settle()
    log.cut()
    log.say('two')
    await settle()
    expect(said(f)).toEqual(['one', 'two'])
    expect(log.afters).toEqual([0, 1])
    expect(log.opened).toBe(1)
  })

  it('takes a fresh snapshot after a gap, and shows the old view until it is there', async () => {
    const gate = { wait: Promise.resolve() }
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const f = follow({
      'sessions.open': async () => {
        await gate.wait
        return log.open()
      }
    })
    await settle()
    log.say('one')
    await settle()
    gate.wait = promise.then(() => undefined)
    log.lose.add(2)
    log.say('two')
    log.say('three')
    await settle()
    expect(said(f)).toEqual(['one'])
    resolve(undefined)
    await settle()
    expect(said(f)).toEqual(['one', 'two', 'three'])
    expect(log.opened).toBe(2)
  })

  it('shows nothing twice when an event comes twice', async () => {
    const f = follow({
      'sessions.watch': async function* (i: { after: number }) {
        for await (const event of log.watch(i)) {
          yield event
          yield event
        }
      }
    })
    await settle()
    log.say('one')
    log.say('two')
    await settle()
    expect(said(f)).toEqual(['one', 'two'])
    expect(log.opened).toBe(1)
  })

  it('draws many events at once, not one by one', async () => {
    const f = follow()
    await settle()
    let changes = 0
    let before = f.view
    const look = (): void => {
      if (f.view !== before) changes++
      before = f.view
    }
    log.add({ type: 'message_start', entryId: 'd', parentId: null, model: 'm' })
    for (let i = 0; i < 500; i++) {
      log.add({ type: 'message_update', entryId: 'd', part: 'text', delta: `${String(i)} ` })
      await Promise.resolve()
      look()
    }
    await settle(0)
    expect(changes).toBe(0)
    await settle(20)
    look()
    expect(changes).toBe(1)
    expect(f.view?.draft?.parts[0]).toMatchObject({ text: Array.from({ length: 500 }, (_, i) => `${String(i)} `).join('') })
  })

  it('keeps trying while the way is cut, and says so when the session does not exist', async () => {
    let tries = 0
    const cut = follow({ 'sessions.open': () => (++tries < 3 ? Promise.reject(new Error('cut')) : Promise.resolve(log.open())) })
    await settle(3_000)
    expect(cut.view).toBeDefined()
    cut.close()
    const missing = follow({ 'sessions.open': () => Promise.reject(new ORPCError('NOT_FOUND')) })
    await settle()
    expect(missing.missing).toBe(true)
  })

  it('does nothing any more once it is closed', async () => {
    const f = follow()
    await settle()
    const { view } = f
    f.close()
    log.say('late')
    await settle()
    expect(f.view).toBe(view)
  })
})
