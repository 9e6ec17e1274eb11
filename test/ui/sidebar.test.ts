import { fireEvent, screen, waitFor } from '@testing-library/svelte'
import axe from 'axe-core'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Session } from '../../src/shared/session'
import Sidebar from '../../src/renderer/src/views/sidebar/Sidebar.svelte'
import { place } from '../../src/renderer/src/lib/place.svelte'
import { completeJsdom, draw, SESSION } from './support'

beforeEach(() => {
  completeJsdom()
  place.go(undefined)
})
async function show(...sessions: Partial<Session>[]) {
  const drawn = draw(
    Sidebar,
    {},
    { api: { 'sessions.list': [{ ...SESSION, id: 'old', title: 'Old', archived: true }], 'sessions.create': { id: 's9' } } }
  )
  drawn.state.accept({ type: 'sessions', sessions: sessions.map((s) => ({ ...SESSION, ...s })) })
  await waitFor(() => {
    expect(screen.queryAllByTestId('session-item')).toHaveLength(sessions.length)
  })
  return drawn
}
const titles = () => screen.getAllByTestId('session-item').map((i) => i.textContent.trim())

describe('the list', () => {
  it('has the newest on top, and follows what happens', async () => {
    const { state } = await show({ id: 'a', title: 'A', updatedAt: 1 }, { id: 'b', title: 'B', updatedAt: 2 })
    expect(titles()).toEqual(['B', 'A'])
    state.accept({ type: 'session', session: { ...SESSION, id: 'a', title: 'A', updatedAt: 3 } })
    await waitFor(() => {
      expect(titles()).toEqual(['A', 'B'])
    })
  })

  it('says which session waits for the person', async () => {
    await show({ state: 'waiting' })
    expect(screen.getByRole('img', { name: 'Waiting for your answer' })).toBeTruthy()
  })

  it('shows a title as text', async () => {
    await show({ title: '<img src=x onerror=window.__pwned=1>' })
    expect(titles()).toEqual(['<img src=x onerror=window.__pwned=1>'])
  })

  it('says so when it is empty', async () => {
    const { container } = await show()
    expect(container.textContent).toContain('No sessions yet')
  })

  it('asks for the archived ones when they are wanted, and keeps them when the list comes anew', async () => {
    const { state } = await show({ id: 'a', title: 'A' })
    await fireEvent.click(screen.getByRole('button', { name: 'Archived' }))
    await waitFor(() => {
      expect(titles()).toEqual(['A', 'Old'])
    })
    state.accept({ type: 'sessions', sessions: [{ ...SESSION, id: 'a', title: 'A again' }] })
    await waitFor(() => {
      expect(titles()).toEqual(['A again', 'Old'])
    })
  })
})

describe('a new name', () => {
  const rename = async (key: Record<string, unknown>) => {
    const drawn = await show({ id: 'a', title: 'A' })
    await fireEvent.keyDown(screen.getByRole('button', { name: 'A' }), { key: 'F2' })
    const field = await screen.findByRole('textbox', { name: 'Name of the session' })
    await fireEvent.input(field, { target: { value: ' Notes ' } })
    await fireEvent.keyDown(field, key)
    return drawn.calls.filter(([path]) => path === 'sessions.rename').map(([, input]) => input)
  }
  it('is kept with Enter', async () => {
    expect(await rename({ key: 'Enter', keyCode: 13 })).toEqual([{ sessionId: 'a', title: 'Notes' }])
  })
  it('is dropped with Escape', async () => {
    expect(await rename({ key: 'Escape' })).toEqual([])
  })
  it('is not kept by the Enter of an input method', async () => {
    expect(await rename({ key: 'Enter', keyCode: 229, isComposing: true })).toEqual([])
  })
})

it('begins a session and opens it', async () => {
  const { calls } = await show()
  await fireEvent.click(screen.getByTestId('new-session'))
  expect(calls).toEqual([['sessions.create', {}]])
  await waitFor(() => {
    expect(place.sessionId).toBe('s9')
  })
})

it('has no accessibility violations', async () => {
  const { container } = await show({ state: 'running' }, { id: 'b', state: 'failed' })
  expect((await axe.run(container, { rules: { region: { enabled: false }, 'color-contrast': { enabled: false } } })).violations).toEqual([])
})
