import { fireEvent, screen, waitFor } from '@testing-library/svelte'
import { beforeEach, describe, expect, it } from 'vitest'
import Start from '../../src/renderer/src/views/start/Start.svelte'
import { place } from '../../src/renderer/src/lib/place.svelte'
import { completeJsdom, draw, type Setting } from './support'

beforeEach(() => {
  completeJsdom()
  sessionStorage.clear()
  place.go(undefined)
})
const show = (setting: Setting = {}) =>
  draw(Start, { openDrawer: undefined }, { ...setting, api: { 'sessions.create': { id: 's9' }, ...setting.api } })
const none = { models: [], defaultModel: '' }

describe('the model', () => {
  it('is named when it is ready', () => {
    show()
    expect(screen.getByTestId('start-view').textContent).toContain('qwen3 is ready')
    expect(screen.queryByTestId('get-starter')).toBeNull()
  })

  it('is offered when there is none, with an honest word about it', async () => {
    const { calls } = show({ app: none })
    expect(screen.getByTestId('start-view').textContent).toContain('not an agent’s brain')
    await fireEvent.click(screen.getByTestId('get-starter'))
    expect(calls).toEqual([['app.fetchStarter', undefined]])
  })

  it('shows how far its download is', () => {
    show({ app: { ...none, starter: { state: 'fetching', step: 'downloading', done: 46.5e6, total: 93e6, secondsLeft: 12 } } })
    expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('50')
    expect(screen.getByTestId('start-view').textContent).toContain('12s left')
  })

  it('says what went wrong and tries again', async () => {
    const { calls } = show({ app: { ...none, starter: { state: 'failed', error: { code: 'starter_failed', message: 'ENOTFOUND' } } } })
    expect(screen.getByTestId('start-view').textContent).toMatch(/Look at your network.*ENOTFOUND/s)
    await fireEvent.click(screen.getByTestId('get-starter'))
    expect(calls).toEqual([['app.fetchStarter', undefined]])
  })
})

describe('beginning', () => {
  it('opens the guided tour', async () => {
    const { calls } = show({ app: none })
    await fireEvent.click(screen.getByTestId('start-tour'))
    expect(calls).toEqual([['sessions.create', { tour: 'en' }]])
    await waitFor(() => {
      expect(place.sessionId).toBe('s9')
    })
  })

  it('puts an example into the field of a new session and sends nothing', async () => {
    const { calls } = show()
    await fireEvent.click(screen.getByRole('button', { name: /Explain what is in this folder/ }))
    await waitFor(() => {
      expect(sessionStorage.getItem('tau.draft.s9')).toMatch(/^Explain/)
    })
    expect(calls.map(([path]) => path)).toEqual(['sessions.create'])
  })

  it('stays here, with a word, when no session could be made', async () => {
    show({ api: { 'sessions.create': () => Promise.reject(new Error('cut')) } })
    await fireEvent.click(screen.getByTestId('start-tour'))
    expect(place.sessionId).toBeUndefined()
  })
})
