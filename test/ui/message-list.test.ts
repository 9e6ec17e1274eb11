import { fireEvent, screen } from '@testing-library/svelte'
import { beforeEach, describe, expect, it } from 'vitest'
import type { EventDraft } from '../../src/shared/event'
import MessageList from '../../src/renderer/src/views/conversation/MessageList.svelte'
import { answer, completeJsdom, draw, entry, SESSION, started, user, viewAfter } from './support'

beforeEach(completeJsdom)

const asked: EventDraft[] = [{ type: 'message_end', entry: entry(user('hello'), null, 'u1') }, started]
const begun: EventDraft[] = [...asked, { type: 'message_start', entryId: 'a1', parentId: 'u1', model: SESSION.model }]
const delta = (text: string, part: 'text' | 'thinking' = 'text'): EventDraft => ({
  type: 'message_update',
  entryId: 'a1',
  part,
  delta: text
})
const ended = (text: string): EventDraft => ({ type: 'message_end', entry: entry(answer(text), 'u1', 'a1') })
const props = (events: EventDraft[]) => ({
  view: viewAfter(SESSION, ...events),
  sent: 0,
  onchoose: () => undefined,
  loadingOlder: false,
  onolder: () => Promise.resolve(),
  onundo: () => undefined
})
const show = (events: EventDraft[]) => draw(MessageList, props(events))

describe('an answer that streams', () => {
  it('keeps its elements when it is finished, so a selection in it stays', async () => {
    const { update } = show([...begun, delta('one\n\ntwo\n\nthree')])
    const live = screen.getByTestId('live')
    const paragraphs = [...live.querySelectorAll('p')]
    const text = paragraphs[0]?.firstChild
    await update(props([...begun, delta('one\n\ntwo\n\nthree'), ended('one\n\ntwo\n\nthree')]))
    const done = screen.getByTestId('message-assistant')
    expect(done).toBe(live)
    expect([...done.querySelectorAll('p')]).toEqual(paragraphs)
    expect(done.querySelector('p')?.firstChild).toBe(text)
    expect(screen.queryByTestId('live')).toBeNull()
  })

  it('touches nothing but its own open end', async () => {
    const { update } = show([...begun, delta('one\n\ntwo\n\nthree\n\nfo')])
    const touched: Node[] = []
    const watcher = new MutationObserver((records) => touched.push(...records.map((r) => r.target)))
    watcher.observe(document.body, { subtree: true, childList: true, characterData: true })
    const paragraphs = [...screen.getByTestId('live').querySelectorAll('p')]
    await update(props([...begun, delta('one\n\ntwo\n\nthree\n\nfo'), delta('ur')]))
    await Promise.resolve()
    watcher.disconnect()
    expect(screen.getByTestId('live').textContent).toContain('four')
    expect(touched.length).toBeGreaterThan(0)
    for (const still of [screen.getByTestId('message-user'), ...paragraphs.slice(0, 2)])
      expect(touched.some((t) => still.contains(t))).toBe(false)
  })

  it('folds its thoughts away until they are wanted', async () => {
    show([...begun, delta('hm, let me see', 'thinking'), delta('Yes.')])
    const thoughts = screen.getByTestId('thinking')
    expect(thoughts.textContent).not.toContain('hm')
    await fireEvent.click(thoughts.querySelector('button') as HTMLElement)
    expect(thoughts.textContent).toContain('hm, let me see')
  })
})

describe('the end of a run', () => {
  const stopped = answer('One, t', { stopReason: 'aborted' })
  const end = (cause: Extract<EventDraft, { type: 'agent_end' }>['cause']): EventDraft => ({
    type: 'agent_end',
    runId: 'r1',
    state: 'cancelled',
    cause
  })

  it('is said once', () => {
    const { container } = show([...asked, { type: 'message_end', entry: entry(stopped, 'u1') }, end({ kind: 'aborted' })])
    expect(screen.getByTestId('run-end')).toBeTruthy()
    expect(container.textContent).not.toContain('Stopped here.')
  })

  it('stays with the message once the conversation has gone on', () => {
    const first = entry(stopped, 'u1')
    const { container } = show([
      ...asked,
      { type: 'message_end', entry: first },
      end({ kind: 'aborted' }),
      { type: 'message_end', entry: entry(user('go on'), first.id) },
      started
    ])
    expect(screen.queryByTestId('run-end')).toBeNull()
    expect(container.textContent).toContain('Stopped here.')
  })

  it('is said on its own branch only', () => {
    const other = entry(user('another way'), null, 'u2')
    const events: EventDraft[] = [
      ...asked,
      end({ kind: 'aborted' }),
      { type: 'head', head: null },
      { type: 'message_end', entry: other },
      { ...started, runId: 'r2' },
      { ...end({ kind: 'aborted' }), runId: 'r2' }
    ]
    const { unmount } = show(events)
    expect(screen.getByTestId('run-end')).toBeTruthy()
    unmount()
    show([...events, { type: 'head', head: 'u1' }])
    expect(screen.queryByTestId('run-end')).toBeNull()
  })

  it('comes after what else there was to say', () => {
    show([...asked, { type: 'notice', level: 'warning', code: 'brand_new', message: 'Something odd.' }, end({ kind: 'repetition' })])
    expect(screen.getByTestId('notice').textContent).toContain('Something odd.')
  })
})

it('shows a new session as one that is empty, not broken', () => {
  const { container } = show([])
  expect(container.textContent).toContain('A new session')
})
