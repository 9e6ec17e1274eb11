import { fireEvent, screen, waitFor } from '@testing-library/svelte'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Session } from '../../src/shared/session'
import type { EventDraft } from '../../src/shared/event'
import Composer from '../../src/renderer/src/views/composer/Composer.svelte'
import { completeJsdom, draw, SESSION, type Setting, started, viewAfter } from './support'

beforeEach(() => {
  completeJsdom()
  sessionStorage.clear()
})

function compose(session: Partial<Session> = {}, events: EventDraft[] = [], setting: Setting = {}) {
  const props = { view: viewAfter({ ...SESSION, ...session }, ...events), onsent: () => undefined, onchoose: () => undefined }
  const drawn = draw(Composer, props, setting)
  const field = screen.getByTestId<HTMLTextAreaElement>('composer')
  const sent = () => drawn.calls.filter(([path]) => path === 'run.prompt').map(([, input]) => input as { text: string; itemId: string })
  return { ...drawn, field, sent, type: (value: string) => fireEvent.input(field, { target: { value } }) }
}
const enter = { key: 'Enter', keyCode: 13 }

describe('sending', () => {
  it('sends with Enter, once, and empties the field', async () => {
    const { field, sent, type } = compose()
    await type('hello')
    await fireEvent.keyDown(field, enter)
    await fireEvent.keyDown(field, enter)
    expect(sent().map((s) => s.text)).toEqual(['hello'])
    expect(field.value).toBe('')
  })

  it('does not send with Shift+Enter, nor words that are only spaces', async () => {
    const { field, sent, type } = compose()
    await type('hello')
    await fireEvent.keyDown(field, { ...enter, shiftKey: true })
    await type('  \n ')
    await fireEvent.keyDown(field, enter)
    expect(sent()).toEqual([])
    expect(screen.getByTestId<HTMLButtonElement>('send').disabled).toBe(true)
  })

  it('gives the words back when they did not arrive, and sends them again as the same message', async () => {
    let cut = true
    const { field, sent, type } = compose({}, [], {
      api: { 'run.prompt': () => (cut ? Promise.reject(new Error('cut')) : Promise.resolve({ accepted: 'started', seq: 1 })) }
    })
    await type('hello')
    await fireEvent.keyDown(field, enter)
    await waitFor(() => {
      expect(field.value).toBe('hello')
    })
    cut = false
    await fireEvent.keyDown(field, enter)
    await waitFor(() => {
      expect(sent()).toHaveLength(2)
    })
    expect(sent()[1]).toEqual(sent()[0])
  })

  it('names each new message anew', async () => {
    const { field, sent, type } = compose()
    for (const words of ['one', 'two']) {
      await type(words)
      await fireEvent.keyDown(field, enter)
      await waitFor(() => {
        expect(screen.getByTestId<HTMLButtonElement>('send').disabled).toBe(true)
      })
      await new Promise((done) => setTimeout(done))
    }
    expect(new Set(sent().map((s) => s.itemId)).size).toBe(2)
  })
})

// https://github.com/jakemor/kanna/issues/90
describe('an input method', () => {
  it('keeps the Enter that ends a composition (Chromium, Firefox)', async () => {
    const { field, sent, type } = compose()
    await fireEvent.compositionStart(field)
    await type('にほんご')
    await fireEvent.keyDown(field, { key: 'Enter', keyCode: 229, isComposing: true })
    await type('日本語')
    await fireEvent.compositionEnd(field)
    expect(sent()).toEqual([])
    expect(field.value).toBe('日本語')
  })

  it('keeps an Enter that only the key code tells apart', async () => {
    const { field, sent, type } = compose()
    await type('日本')
    await fireEvent.keyDown(field, { key: 'Enter', keyCode: 229 })
    expect(sent()).toEqual([])
  })

  it('keeps the Enter that Safari sends right after the composition, and takes the next one', async () => {
    const { field, sent, type } = compose()
    await fireEvent.compositionStart(field)
    await type('日本語')
    await fireEvent.compositionEnd(field)
    await fireEvent.keyDown(field, enter)
    expect(sent()).toEqual([])
    await new Promise((done) => setTimeout(done, 60))
    await fireEvent.keyDown(field, enter)
    expect(sent()).toHaveLength(1)
  })
})

describe('what is there to see', () => {
  it('keeps a draft for each session', async () => {
    const first = compose()
    await first.type('half a sentence')
    first.unmount()
    const other = compose({ id: 's2' })
    expect(other.field.value).toBe('')
    other.unmount()
    expect(compose().field.value).toBe('half a sentence')
  })

  it('offers to stop while a run is going on, and sends what is typed into the queue', async () => {
    const { field, sent, type, calls } = compose({}, [started])
    expect(screen.queryByTestId('send')).toBeNull()
    await type('and then this')
    expect(screen.getByTestId('send').getAttribute('aria-label')).toBe('Heard before the next step; what runs now is finished first')
    await fireEvent.keyDown(field, enter)
    expect(sent()).toHaveLength(1)
    await fireEvent.click(screen.getByTestId('stop'))
    expect(calls.some(([path]) => path === 'run.stop')).toBe(true)
  })

  it('shows waiting messages and takes one back into the field', async () => {
    const item = { id: 'q1', kind: 'follow-up' as const, text: 'later', at: 1, position: 1, held: false }
    const { field } = compose({}, [started, { type: 'queue', item, state: 'queued' }], { api: { 'queue.withdraw': { text: 'later' } } })
    expect(screen.getByTestId('queue-item').textContent).toContain('later')
    await fireEvent.click(screen.getByRole('button', { name: /Take back/ }))
    await waitFor(() => {
      expect(field.value).toBe('later')
    })
  })

  it('says why nothing can be sent', async () => {
    const archived = compose({ archived: true })
    expect(archived.field.disabled).toBe(true)
    expect(archived.container.textContent).toContain('This session is archived.')
    archived.unmount()
    const none = compose({ model: '' })
    await none.type('hello')
    await fireEvent.keyDown(none.field, enter)
    expect(none.sent()).toEqual([])
    expect(none.field.value).toBe('hello')
    expect(none.container.textContent).toContain('This session has no model yet.')
  })

  it('suggests the first words of the guided tour', () => {
    expect(compose({ model: 'scripted:tour' }).field.value).toBe('Show me around')
  })
})
