import { fireEvent, screen, waitFor } from '@testing-library/svelte'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Session } from '../../src/shared/session'
import ModelPicker from '../../src/renderer/src/views/conversation/ModelPicker.svelte'
import { completeJsdom, draw, SESSION } from './support'

beforeEach(completeJsdom)

const show = (session: Partial<Session> = {}, more: { busy?: boolean; open?: boolean } = {}) =>
  draw(
    ModelPicker,
    { session: { ...SESSION, ...session }, busy: more.busy ?? false, open: more.open ?? false },
    {
      app: {
        models: [
          { id: 'engine:starter', name: 'Starter', source: 'engine', size: 93e6, contextLength: 8_192, tools: false, ready: true },
          { id: 'ollama:qwen3', name: 'qwen3', source: 'ollama', tools: true, ready: true },
          {
            id: 'ollama:away',
            name: 'away',
            source: 'ollama',
            tools: true,
            ready: false,
            fault: { code: 'unreachable', message: 'ECONNREFUSED' }
          }
        ]
      }
    }
  )
const picker = () => screen.getByTestId<HTMLButtonElement>('model-picker')

describe('the model of a session', () => {
  it.each([
    ['ollama:qwen3', 'qwen3'],
    ['ollama:gone', 'ollama:gone'],
    ['scripted:tour-en', 'Guided tour'],
    ['', 'Choose a model']
  ])('%s is called %s', (model, name) => {
    show({ model })
    expect(picker().textContent.trim()).toBe(name)
  })

  it('warns of one that is not there, but not of the tour', () => {
    const gone = show({ model: 'ollama:gone' })
    expect(picker().querySelectorAll('svg')).toHaveLength(2)
    gone.unmount()
    show({ model: 'scripted:tour-en' })
    expect(picker().querySelectorAll('svg')).toHaveLength(1)
  })

  it('is chosen from a list that says what each can do and why one cannot', async () => {
    const { calls } = show({}, { open: true })
    const options = await screen.findAllByRole('option')
    expect(options.map((o) => o.textContent.replaceAll(/\s+/g, ' ').trim())).toEqual([
      'Starter 93 MB · 8K context · no tools',
      'qwen3',
      'away The model’s server does not answer. Is it running? not ready'
    ])
    const starter = options[0] as HTMLElement
    await fireEvent.pointerUp(starter, { pointerType: 'mouse' })
    await waitFor(() => {
      expect(calls).toEqual([['sessions.setModel', { sessionId: 's1', model: 'engine:starter' }]])
    })
  })

  it('stays while a run is going on', () => {
    show({}, { busy: true })
    expect(picker().disabled).toBe(true)
  })
})
