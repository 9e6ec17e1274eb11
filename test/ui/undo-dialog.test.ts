import { ORPCError } from '@orpc/client'
import { fireEvent, screen, waitFor, within } from '@testing-library/svelte'
import axe from 'axe-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { KeptCall, UndoPlan, UndoStep, UndoTarget } from '../../src/shared/undo'
import { texts } from '../../src/renderer/src/text/index.svelte'
import RunChanges from '../../src/renderer/src/views/status/RunChanges.svelte'
import UndoDialog from '../../src/renderer/src/views/undo/UndoDialog.svelte'
import { completeJsdom, draw } from './support'

beforeEach(completeJsdom)
afterEach(() => {
  texts.choose('en')
})

const step = (path: string, more: Partial<UndoStep> = {}): UndoStep => ({
  path,
  before: 'file',
  after: 'file',
  added: 1,
  removed: 1,
  bytesBefore: 4,
  bytesAfter: 4,
  diff: '@@ -1 +1 @@\n-<b>new</b>\n+old\n',
  state: 'restore',
  ...more
})
const kept = (id: string, more: Partial<KeptCall> = {}): KeptCall => ({
  id,
  sessionId: 's1',
  runId: 'r1',
  callId: `c-${id}`,
  tool: 'edit_file',
  at: 1,
  isUndo: false,
  changes: [step('a.md')],
  limits: [],
  ...more
})
const plan = (steps: UndoStep[], limits: string[] = []): UndoPlan => ({ token: 't1', calls: [kept('k1', { limits })], steps })
const TARGET: UndoTarget = { kind: 'run', runId: 'r1' }
const show = (api: Record<string, unknown>, target: UndoTarget = TARGET) => draw(UndoDialog, { sessionId: 's1', target }, { api })
const rows = () => screen.getAllByTestId('undo-step')

describe('the plan', () => {
  it('comes first, file by file, and nothing is done by it', async () => {
    const steps = [
      step('a.md'),
      step('new.md', { after: 'absent' }),
      step('same.md', { state: 'nothing' }),
      step('theirs.md', { state: 'changed_since' }),
      step('<i>big</i>.bin', { state: 'not_kept' })
    ]
    const { calls } = show({ 'undo.plan': () => Promise.resolve(plan(steps)) })
    await screen.findByTestId('undo-apply')
    expect(rows().map((row) => row.dataset['state'])).toEqual(['changed_since', 'not_kept', 'restore', 'restore', 'nothing'])
    expect(screen.getByTestId('undo-dialog').textContent).toContain('1 call, 5 files. Nothing has changed yet.')
    expect(screen.getByTestId('undo-dialog').querySelector('i, b')).toBeNull()
    expect(screen.getByTestId('undo-apply').textContent).toBe('Undo 2 files')
    expect(calls).toEqual([['undo.plan', { sessionId: 's1', target: TARGET }]])
    expect(rows()[3]?.textContent).toContain('Is deleted')
    await fireEvent.click(within(rows()[3] as HTMLElement).getByRole('button'))
    expect(rows()[3]?.textContent).toContain('it was not there before')
  })

  it('shows what would come back, line by line', async () => {
    show({ 'undo.plan': () => Promise.resolve(plan([step('a.md')])) })
    const diff = await screen.findByTestId('diff')
    expect([...diff.querySelectorAll('.diff-text')].map((l) => l.textContent)).toEqual(['<b>new</b>', 'old'])
  })

  it('says the sizes where there is no text', async () => {
    const { diff, ...binary } = step('a.bin', { bytesBefore: 2_000_000, bytesAfter: 1_000 })
    show({ 'undo.plan': () => Promise.resolve(plan([binary])) })
    expect((await screen.findByTestId('undo-step')).textContent).toContain('2 MB now, 1 kB after the undo')
  })

  it('says what could not be kept', async () => {
    show({ 'undo.plan': () => Promise.resolve(plan([step('a.md')], ['node_modules is left out.'])) })
    expect((await screen.findByTestId('undo-limits')).textContent).toContain('node_modules is left out.')
  })

  it.each([
    [[], 'no change of Tau is kept'],
    [[step('a.md', { state: 'nothing' })], 'nothing left to do']
  ])('offers nothing where nothing can be done', async (steps, words) => {
    show({ 'undo.plan': () => Promise.resolve(plan(steps)) })
    await waitFor(() => {
      expect(screen.getByTestId('undo-dialog').textContent).toContain(words)
    })
    expect(screen.queryByTestId('undo-apply')).toBeNull()
  })

  it('of thousands of files comes in parts', async () => {
    show({ 'undo.plan': () => Promise.resolve(plan(Array.from({ length: 450 }, (_, i) => step(`f${String(i)}`)))) })
    await screen.findByTestId('undo-apply')
    expect(rows()).toHaveLength(200)
    await fireEvent.click(screen.getByTestId('undo-more'))
    await fireEvent.click(screen.getByTestId('undo-more'))
    expect(rows()).toHaveLength(450)
    expect(screen.queryByTestId('undo-more')).toBeNull()
  })

  it('takes the focus to no button, so that no key undoes by accident', async () => {
    show({ 'undo.plan': () => Promise.resolve(plan([step('a.md')])) })
    await screen.findByTestId('undo-apply')
    await waitFor(() => {
      expect(document.activeElement).toBe(screen.getByTestId('undo-dialog'))
    })
  })

  it('is asked for once, however often the session behind it changes', async () => {
    const { calls, update } = show({ 'undo.plan': () => Promise.resolve(plan([step('a.md')])) })
    await screen.findByTestId('undo-apply')
    for (let i = 0; i < 3; i++) await update({ sessionId: 's1', target: TARGET })
    await screen.findByTestId('undo-apply')
    expect(calls).toHaveLength(1)
  })

  it('says why when there is none, and looks again', async () => {
    let asked = 0
    const look = () =>
      ++asked === 1
        ? Promise.reject(new ORPCError('CONFLICT', { message: 'A command is running.', defined: true }))
        : Promise.resolve(plan([step('a.md')]))
    show({ 'undo.plan': look })
    expect((await screen.findByTestId('undo-failed')).textContent).toContain('A command is running.')
    await fireEvent.click(screen.getByRole('button', { name: 'Look again' }))
    await screen.findByTestId('undo-apply')
  })
})

describe('the undo', () => {
  const done = { kept: kept('k9', { isUndo: true }), steps: [step('a.md'), step('b.md', { state: 'changed_since' })] }

  it('does exactly the plan, once, and says what became of each file', async () => {
    const { calls } = show({ 'undo.plan': () => Promise.resolve(plan(done.steps)), 'undo.apply': () => Promise.resolve(done) })
    await fireEvent.click(await screen.findByTestId('undo-apply'))
    expect((await screen.findByTestId('undo-done')).textContent).toMatch(/As it was before: 1 file\..*Left alone: 1 file\./)
    expect(rows().map((row) => row.textContent)).toEqual([
      expect.stringContaining('Left alone: changed since'),
      expect.stringContaining('Brought back')
    ])
    expect(calls.filter(([path]) => path === 'undo.apply')).toEqual([['undo.apply', { sessionId: 's1', token: 't1' }]])
    expect(screen.queryByTestId('undo-apply')).toBeNull()
  })

  it('can be taken back at once', async () => {
    const { calls } = show({ 'undo.plan': () => Promise.resolve(plan(done.steps)), 'undo.apply': () => Promise.resolve(done) })
    await fireEvent.click(await screen.findByTestId('undo-apply'))
    await fireEvent.click(await screen.findByTestId('undo-redo'))
    await screen.findByTestId('undo-apply')
    expect(calls.at(-1)).toEqual(['undo.plan', { sessionId: 's1', target: { kind: 'call', id: 'k9' } }])
  })

  it('of an undo is called by its name', async () => {
    const back = { ...plan([step('a.md')]), calls: [kept('k9', { isUndo: true })] }
    show({ 'undo.plan': () => Promise.resolve(back) }, { kind: 'call', id: 'k9' })
    await screen.findByRole('heading', { name: 'Take an undo back' })
  })

  it('is refused when the plan is not true any more', async () => {
    const refuse = () => Promise.reject(new ORPCError('CONFLICT', { message: 'The files changed.', defined: true }))
    show({ 'undo.plan': () => Promise.resolve(plan([step('a.md')])), 'undo.apply': refuse })
    await fireEvent.click(await screen.findByTestId('undo-apply'))
    expect((await screen.findByTestId('undo-failed')).textContent).toMatch(/The undo did not take place\..*The files changed\./)
  })
})

describe('the line below a run', () => {
  const line = (calls: KeptCall[], got: UndoTarget[] = []) =>
    draw(RunChanges, { kept: new Map(calls.map((k) => [k.callId, k])), runId: 'r1', onundo: (target: UndoTarget) => void got.push(target) })

  it('counts each file once, leaves other runs out, and undoes all of it', async () => {
    const got: UndoTarget[] = []
    line([kept('k1'), kept('k2'), kept('k3', { runId: 'r0', changes: [step('z.md')] })], got)
    expect(screen.getByTestId('run-changes').textContent).toContain('This run changed 1 file.')
    await fireEvent.click(screen.getByTestId('undo-run'))
    expect(got).toEqual([{ kind: 'run', runId: 'r1' }])
  })

  it('says that all was undone', () => {
    line([kept('k1', { undoneBy: 'k9' })])
    expect(screen.getByTestId('run-changes').dataset['undone']).toBe('true')
    expect(screen.queryByTestId('undo-run')).toBeNull()
  })

  it('is not there where nothing changed', () => {
    line([])
    expect(screen.queryByTestId('run-changes')).toBeNull()
  })
})

it('has no accessibility violations, in Chinese too', async () => {
  texts.choose('zh')
  show({ 'undo.plan': () => Promise.resolve(plan([step('a.md'), step('b.md', { state: 'changed_since' })])) })
  await screen.findByTestId('undo-apply')
  expect(screen.getByTestId('undo-apply').textContent).toBe('撤销 1 个文件')
  const { violations } = await axe.run(screen.getByTestId('undo-dialog'), {
    rules: { region: { enabled: false }, 'color-contrast': { enabled: false } }
  })
  expect(violations).toEqual([])
})
