import { fireEvent, screen } from '@testing-library/svelte'
import { beforeEach, describe, expect, it } from 'vitest'
import type { StopCause } from '../../src/shared/session'
import RunEnd from '../../src/renderer/src/views/status/RunEnd.svelte'
import { completeJsdom, draw, type Setting } from './support'

beforeEach(completeJsdom)

let chosen = 0
const show = (cause: StopCause, model = 'ollama:qwen3', setting: Setting = {}) =>
  draw(RunEnd, { sessionId: 's1', cause, model, onchoose: () => (chosen += 1) }, setting)
const error = (code: string, message = 'the server’s words'): StopCause => ({ kind: 'error', error: { code, message } })

describe('an error', () => {
  it('is said in the window’s words, with the server’s as the detail', () => {
    show(error('unreachable', 'connect ECONNREFUSED'))
    const block = screen.getByTestId('error-block')
    expect(block.textContent).toContain('Is it running?')
    expect(block.textContent).toContain('connect ECONNREFUSED')
  })

  it('of an unknown kind is said in the server’s words, once', () => {
    show(error('brand_new', 'Something new happened.'))
    expect(screen.getByTestId('error-block').textContent.split('Something new happened.')).toHaveLength(2)
  })

  it('has ways on', async () => {
    const { calls } = show(error('engine_crashed'), 'engine:starter')
    await fireEvent.click(screen.getByTestId('retry'))
    await fireEvent.click(screen.getByRole('button', { name: 'Choose another model' }))
    await fireEvent.click(screen.getByRole('button', { name: 'Restart the engine' }))
    expect(calls.map(([path]) => path)).toEqual(['run.retry', 'app.restartEngine'])
    expect(chosen).toBe(1)
  })

  it('offers the engine only where the engine has a part in it', () => {
    show(error('unreachable'))
    expect(screen.queryByRole('button', { name: 'Restart the engine' })).toBeNull()
  })

  it('offers the starter when there is no model at all', async () => {
    const { calls } = show(error('no_model'), '')
    await fireEvent.click(screen.getByRole('button', { name: 'Get the starter model' }))
    expect(calls.map(([path]) => path)).toEqual(['app.fetchStarter'])
  })
})

describe('every other end that needs a word', () => {
  it.each<[StopCause, string, string]>([
    [{ kind: 'aborted' }, 'You stopped this run', 'Try again'],
    [{ kind: 'interrupted' }, 'Tau was closed', 'Try again'],
    [{ kind: 'budget', budget: 'turns', limit: 10 }, 'rounds (10)', 'Continue'],
    [{ kind: 'repetition' }, 'repeated itself', 'Continue'],
    [{ kind: 'terminated', by: 'audit' }, 'Ended by audit', 'Continue']
  ])('%o', async (cause, words, button) => {
    const { calls } = show(cause)
    expect(screen.getByTestId('run-end').textContent).toContain(words)
    await fireEvent.click(screen.getByRole('button', { name: button }))
    expect(calls).toEqual([['run.retry', { sessionId: 's1' }]])
  })

  it('and none for a run that simply finished', () => {
    const { container } = show({ kind: 'natural' })
    expect(container.textContent.trim()).toBe('')
  })
})
