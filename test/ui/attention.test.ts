import { waitFor } from '@testing-library/svelte'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Approval } from '../../src/shared/session'
import type { SessionView } from '../../src/shared/view'
import { notify } from '../../src/renderer/src/lib/notify.svelte'
import { place } from '../../src/renderer/src/lib/place.svelte'
import Attention from '../../src/renderer/src/views/status/Attention.svelte'
import { completeJsdom, draw, SESSION, viewAfter } from './support'

class Shown {
  static permission = 'granted'
  static all: Shown[] = []
  onclick: (() => void) | undefined
  closed = false
  readonly title: string
  readonly options: NotificationOptions
  constructor(title: string, options: NotificationOptions) {
    this.title = title
    this.options = options
    Shown.all.push(this)
  }
  close(): void {
    this.closed = true
  }
}

let visibility: DocumentVisibilityState = 'visible'
const look = async (at: DocumentVisibilityState) => {
  visibility = at
  document.dispatchEvent(new Event('visibilitychange'))
  await Promise.resolve()
}
beforeEach(async () => {
  completeJsdom()
  Shown.all = []
  vi.stubGlobal('Notification', Shown)
  vi.spyOn(document, 'visibilityState', 'get').mockImplementation(() => visibility)
  vi.spyOn(window, 'focus').mockImplementation(() => undefined)
  await notify.turnOn()
  await look('hidden')
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  place.sessionId = undefined
})

const approval = (id: string, command: string): Approval => ({
  id,
  runId: 'r1',
  callId: 'c1',
  tool: 'run_command',
  label: 'exec',
  arguments: '{}',
  preview: { kind: 'command', command, cwd: '/', network: false, background: false, sandbox: 'bubblewrap' },
  askedAt: 1
})
const asking = (...approvals: Approval[]): SessionView => ({ ...viewAfter(SESSION), approvals })
const show = (view: SessionView | undefined) => draw(Attention, { view })
const told = () => Shown.all.map((n) => [n.title, n.options.body])

describe('while the page is hidden', () => {
  it('a question is told once, in the words of its card, with nothing unseen in it', async () => {
    const { update } = show(asking())
    await update({ view: asking(approval('a1', 'rm \u202etxt')) })
    await update({ view: { ...asking(approval('a1', 'rm \u202etxt')), seq: 9 } })
    expect(told()).toEqual([['Tau wants to run a command', 'rm [U+202E]txt\nNotes']])
    expect(document.title).toBe('(1) Notes — Tau')
  })

  it('it is taken away when it was answered elsewhere', async () => {
    const { update } = show(asking(approval('a1', 'ls')))
    await update({ view: asking() })
    expect(Shown.all.map((n) => n.closed)).toEqual([true])
    expect(document.title).toBe('Notes — Tau')
  })

  it('and when the person looks', async () => {
    show(asking(approval('a1', 'ls')))
    await look('visible')
    await waitFor(() => {
      expect(Shown.all.map((n) => n.closed)).toEqual([true])
    })
    await look('hidden')
    expect(Shown.all).toHaveLength(1)
  })

  it('a session that is not open here is told by its name, and a click goes there', async () => {
    const { state } = show(undefined)
    state.put([
      { ...SESSION, id: 's2', title: 'Garden', state: 'waiting' },
      { ...SESSION, id: 's3', state: 'running' }
    ])
    await waitFor(() => {
      expect(told()).toEqual([['Tau', 'Garden · Tau waits for your answer']])
    })
    Shown.all[0]?.onclick?.()
    expect(place.sessionId).toBe('s2')
    expect(document.title).toBe('(1) Tau')
  })

  it('nothing is told when the person turned it off; the title counts all the same', async () => {
    notify.turnOff()
    show(asking(approval('a1', 'ls'), approval('a2', 'ls')))
    await waitFor(() => {
      expect(document.title).toBe('(2) Notes — Tau')
    })
    expect(Shown.all).toEqual([])
  })
})

it('nothing is told while the person looks', async () => {
  await look('visible')
  const { update } = show(asking())
  await update({ view: asking(approval('a1', 'ls')) })
  expect(Shown.all).toEqual([])
  await look('hidden')
  expect(Shown.all).toEqual([])
})
