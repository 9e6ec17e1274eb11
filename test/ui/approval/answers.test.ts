import { fireEvent, screen, waitFor, within } from '@testing-library/svelte'
import { ORPCError } from '@orpc/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Approval } from '../../../src/shared/session'
import ApprovalDeck from '../../../src/renderer/src/views/approval/ApprovalDeck.svelte'
import { toasts } from '../../../src/renderer/src/lib/toasts.svelte'
import { completeJsdom, draw } from '../support'
import { answers, ask, command, FILE, show } from './approvals'

beforeEach(completeJsdom)
afterEach(() => {
  toasts.list = []
})

describe('what it answers', () => {
  it.each([
    ['allow-once', { kind: 'allow', scope: 'once' }],
    ['allow-session', { kind: 'allow', scope: 'session' }]
  ])('%s', async (button, answer) => {
    const card = show(FILE)
    await fireEvent.click(screen.getByTestId(button))
    expect(answers(card)).toEqual([{ sessionId: 's1', approvalId: 'a1', answer }])
  })

  it('a denial with its reason, which Enter sends', async () => {
    const card = show(FILE)
    await fireEvent.click(screen.getByTestId('deny'))
    const field = await screen.findByTestId('deny-reason')
    await fireEvent.input(field, { target: { value: '  use another file ' } })
    await fireEvent.keyDown(field, { key: 'Enter', keyCode: 229, isComposing: true })
    expect(answers(card)).toEqual([])
    await fireEvent.keyDown(field, { key: 'Enter', keyCode: 13 })
    expect(answers(card)).toEqual([{ sessionId: 's1', approvalId: 'a1', answer: { kind: 'deny', reason: 'use another file' } }])
  })

  it.each([
    ['session', 'session'],
    ['workspace', 'always']
  ])('a rule that was looked at and changed, for this %s', async (name, scope) => {
    const card = show(FILE)
    await fireEvent.click(screen.getByTestId('allow-always'))
    expect(answers(card)).toEqual([])
    expect(within(screen.getByTestId('grant-form')).getByTestId('rule-line').textContent).toMatch(/Allow.*Tool.*write_file.*Path.*todo\.md/)
    await fireEvent.input(screen.getByTestId('grant-path'), { target: { value: ' *.md ' } })
    await fireEvent.click(screen.getByLabelText(`This ${name}`))
    await fireEvent.keyDown(screen.getByTestId('grant-path'), { key: 'Enter' })
    expect(answers(card)).toEqual([])
    await fireEvent.click(screen.getByTestId('grant-allow'))
    const rule = { verdict: 'allow', tool: 'write_file', path: '*.md' }
    expect(answers(card)).toEqual([{ sessionId: 's1', approvalId: 'a1', answer: { kind: 'allow', scope, rule } }])
  })

  it('no rule from which a named part was taken away', async () => {
    show(FILE)
    await fireEvent.click(screen.getByTestId('allow-always'))
    await fireEvent.input(screen.getByTestId('grant-path'), { target: { value: ' ' } })
    expect(screen.getByTestId<HTMLButtonElement>('grant-allow').disabled).toBe(true)
  })

  it.each(['allow-session', 'allow-always'])('and says beside the rule why it was refused (%s)', async (button) => {
    const refuse = () => Promise.reject(new ORPCError('UNUSABLE', { message: 'This rule would let everything through.', defined: true }))
    const card = show(FILE, { 'run.answer': refuse })
    await fireEvent.click(screen.getByTestId(button))
    if (button === 'allow-always') await fireEvent.click(screen.getByTestId('grant-allow'))
    expect((await screen.findByTestId('grant-refused')).textContent).toContain('This rule would let everything through.')
    expect(answers(card)).toHaveLength(1)
    expect(screen.getByTestId<HTMLButtonElement>('grant-allow').disabled).toBe(false)
  })

  it('once only, where no rule would be sensible', () => {
    const { grant, ...once } = FILE
    show(once)
    expect(screen.queryByTestId('allow-session')).toBeNull()
    expect(screen.queryByTestId('allow-always')).toBeNull()
    expect(screen.getByTestId('approval-rule').textContent).toContain('once only')
  })

  it('a question with one of its choices', async () => {
    const card = show(ask(['Red', '<i>Blue</i>']))
    expect(screen.getByTestId('question').textContent).toBe('Which <b>one</b>?')
    expect(screen.queryByTestId('allow-once')).toBeNull()
    await fireEvent.click(screen.getByRole('button', { name: '<i>Blue</i>' }))
    expect(answers(card)).toEqual([{ sessionId: 's1', approvalId: 'a1', answer: { kind: 'reply', text: '<i>Blue</i>' } }])
  })

  it('a question with other words, which Enter sends', async () => {
    const card = show(ask([]))
    const field = screen.getByTestId('question-reply')
    await fireEvent.keyDown(field, { key: 'Enter', keyCode: 13 })
    await fireEvent.input(field, { target: { value: ' Green ' } })
    await fireEvent.keyDown(field, { key: 'Enter', keyCode: 229, isComposing: true })
    expect(answers(card)).toEqual([])
    await fireEvent.keyDown(field, { key: 'Enter', keyCode: 13 })
    expect(answers(card)).toEqual([{ sessionId: 's1', approvalId: 'a1', answer: { kind: 'reply', text: 'Green' } }])
  })

  it('nothing while there is no connection', async () => {
    const { state } = show(FILE)
    state.link = 'reconnecting'
    await waitFor(() => {
      for (const button of ['allow-once', 'allow-session', 'allow-always', 'deny'])
        expect(screen.getByTestId<HTMLButtonElement>(button).disabled, button).toBe(true)
    })
  })

  it('one answer, however often the button is pressed', async () => {
    const card = show(FILE, { 'run.answer': () => new Promise(() => undefined) })
    await fireEvent.click(screen.getByTestId('allow-once'))
    await fireEvent.click(screen.getByTestId('allow-once'))
    expect(answers(card)).toHaveLength(1)
  })

  it('nothing when Escape is pressed', async () => {
    const card = show(FILE)
    await fireEvent.keyDown(screen.getByTestId('approval-card'), { key: 'Escape' })
    await fireEvent.click(screen.getByTestId('deny'))
    await fireEvent.keyDown(await screen.findByTestId('deny-reason'), { key: 'Escape' })
    await waitFor(() => {
      expect(screen.queryByTestId('deny-reason')).toBeNull()
    })
    expect(answers(card)).toEqual([])
  })
})

describe('the focus', () => {
  it('goes to the card itself, so that no key answers by accident', () => {
    show(FILE)
    expect(document.activeElement).toBe(screen.getByTestId('approval-card'))
  })

  it('stays with somebody who is writing', () => {
    const field = document.body.appendChild(document.createElement('textarea'))
    field.value = 'half a sen'
    field.focus()
    show(FILE)
    expect(document.activeElement).toBe(field)
    field.remove()
  })
})

describe('several that wait', () => {
  const three = [FILE, { ...command(), id: 'a2', callId: 'c2' }, { ...ask(['Yes']), id: 'a3', callId: 'c3' }]
  const deck = (approvals: Approval[]) => draw(ApprovalDeck, { approvals, sessionId: 's1' })
  const shown = () => screen.getAllByTestId('approval-card').map((card) => card.dataset['approval'])

  it('are shown one at a time, with ways between them', async () => {
    deck(three)
    expect(shown()).toEqual(['a1'])
    expect(screen.getByTestId('approval-deck').textContent).toContain('1 of 3')
    await fireEvent.click(screen.getByRole('button', { name: 'Next question' }))
    await fireEvent.click(screen.getByRole('button', { name: 'Next question' }))
    await fireEvent.click(screen.getByRole('button', { name: 'Next question' }))
    expect(shown()).toEqual(['a3'])
    await fireEvent.click(screen.getByRole('button', { name: 'Previous question' }))
    expect(shown()).toEqual(['a2'])
  })

  it('follow each other when one is answered, here or elsewhere', async () => {
    const { update } = deck(three)
    await update({ approvals: three.slice(1), sessionId: 's1' })
    expect(shown()).toEqual(['a2'])
    await update({ approvals: [], sessionId: 's1' })
    expect(screen.queryByTestId('approval-card')).toBeNull()
  })

  it('take no click that was meant for the one before', async () => {
    const { update, calls } = deck(three)
    await waitFor(() => {
      expect(screen.getByTestId<HTMLButtonElement>('allow-once').disabled).toBe(false)
    })
    await fireEvent.click(screen.getByTestId('allow-once'))
    await update({ approvals: three.slice(1), sessionId: 's1' })
    const next = screen.getByTestId<HTMLButtonElement>('allow-once')
    expect(next.disabled).toBe(true)
    expect(document.activeElement).toBe(screen.getByTestId('approval-card'))
    next.click()
    expect(calls.filter(([path]) => path === 'run.answer')).toHaveLength(1)
    await waitFor(() => {
      expect(next.disabled).toBe(false)
    })
  })

  it('say so when one goes in which somebody was writing', async () => {
    const { update } = deck([FILE])
    await waitFor(() => {
      expect(screen.getByTestId<HTMLButtonElement>('deny').disabled).toBe(false)
    })
    await fireEvent.click(screen.getByTestId('deny'))
    await fireEvent.input(await screen.findByTestId('deny-reason'), { target: { value: 'because' } })
    await update({ approvals: [], sessionId: 's1' })
    expect(toasts.list.map((t) => t.text).join()).toContain('What you typed was not sent')
  })
})
