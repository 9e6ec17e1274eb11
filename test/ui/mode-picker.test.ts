import { fireEvent, screen, within } from '@testing-library/svelte'
import { beforeEach, describe, expect, it } from 'vitest'
import type { AppState } from '../../src/shared/contract'
import type { Mode } from '../../src/shared/policy'
import ModePicker from '../../src/renderer/src/views/composer/ModePicker.svelte'
import { completeJsdom, draw, SESSION } from './support'

beforeEach(() => {
  completeJsdom()
  Element.prototype.scrollIntoView = () => undefined
})

const POLICY: AppState['policy'] = { path: '/p', exists: true, mode: 'ask', rules: [] }
const show = (mode: Mode, app: Partial<AppState> = {}, disabled = false) =>
  draw(ModePicker, { session: { ...SESSION, mode }, disabled }, { app })
const open = async (): Promise<HTMLElement> => {
  await fireEvent.keyDown(screen.getByTestId('mode-picker'), { key: 'ArrowDown' })
  return screen.findByRole('listbox')
}
const optionOf = (list: HTMLElement, name: string): HTMLElement => {
  const found = within(list)
    .getAllByRole('option')
    .find((o) => o.textContent.includes(name))
  if (!found) throw new Error(`no mode ${name}`)
  return found
}

describe('the mode of a session', () => {
  it('is shown, and each mode says in a sentence what it lets happen', async () => {
    show('workspace')
    expect(screen.getByTestId('mode-picker').textContent).toContain('Workspace')
    const list = await open()
    expect(within(list).getAllByRole('option')).toHaveLength(4)
    expect(optionOf(list, 'Read only').textContent).toContain('nothing with an effect happens')
    expect(optionOf(list, 'Ask').textContent).toContain('asks before every effect')
    expect(optionOf(list, 'Trusted').textContent).toContain('Nobody looks at a command before it runs')
  })

  it('changes when another one is chosen', async () => {
    const { calls } = show('ask')
    const list = await open()
    await fireEvent.pointerUp(optionOf(list, 'Read only'))
    expect(calls).toEqual([['sessions.setMode', { sessionId: 's1', mode: 'read-only' }]])
  })

  it('cannot be chosen where nothing can be done', () => {
    show('ask', {}, true)
    expect(screen.getByTestId<HTMLButtonElement>('mode-picker').disabled).toBe(true)
  })

  it('says what a missing sandbox means', async () => {
    show('trusted', { sandbox: { kind: 'none', why: 'bwrap was not found' } })
    expect(optionOf(await open(), 'Trusted').textContent).toContain('commands ask all the same')
  })

  it('says that the policy file cannot be used, before it is opened too', async () => {
    show('trusted', { policy: { ...POLICY, fault: { code: 'bad_policy', message: 'Line 4 is <b>odd</b>.' } } })
    expect(screen.getByTestId('mode-picker').getAttribute('aria-label')).toContain('every effect asks')
    const list = await open()
    const fault = within(list.ownerDocument.body).getByTestId('policy-fault')
    expect(fault.textContent).toContain('Line 4 is <b>odd</b>.')
    expect(fault.querySelector('b')).toBeNull()
  })
})
