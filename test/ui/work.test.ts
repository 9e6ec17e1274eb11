import { fireEvent, screen, waitFor, within } from '@testing-library/svelte'
import axe from 'axe-core'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Job, Work } from '../../src/shared/session'
import { place } from '../../src/renderer/src/lib/place.svelte'
import WorkPopover from '../../src/renderer/src/views/work/WorkPopover.svelte'
import { completeJsdom, draw, SESSION } from './support'

beforeEach(() => {
  completeJsdom()
  Element.prototype.scrollTo = () => undefined
})

const work = (id: string, more: Partial<Work> = {}): Work => ({
  id,
  sessionId: 's1',
  runId: 'r1',
  callId: `c-${id}`,
  tool: 'edit_file',
  workspace: '/home/ada/notes',
  exclusive: true,
  state: 'waiting',
  behind: [],
  since: Date.now(),
  ...more
})
const job = (id: string, more: Partial<Job> = {}): Job => ({
  id,
  sessionId: 's1',
  command: 'npm run dev',
  state: 'running',
  startedAt: 1,
  lastLine: 'ready',
  bytes: 10,
  ...more
})
const show = (api: Record<string, unknown> = {}) => {
  const drawn = draw(WorkPopover, {}, { api })
  drawn.state.put([SESSION, { ...SESSION, id: 's2', title: 'Garden <b>' }])
  return drawn
}
const open = async () => {
  await fireEvent.click(screen.getByTestId('work'))
  return screen.findByTestId('work-popover')
}

describe('the queue', () => {
  it('says that nothing is going on', async () => {
    show()
    expect(screen.getByTestId('work').textContent.trim()).toBe('Queue and background jobs')
    expect((await open()).textContent).toMatch(/No call waits or runs.*No command runs in the background/s)
  })

  it('shows who runs and who waits for whom, over all sessions', async () => {
    const { state } = show()
    state.accept({
      type: 'work',
      work: [
        work('w1', { sessionId: 's2', tool: 'run_command', state: 'running' }),
        work('w2', { behind: ['w1'] }),
        work('w3', { behind: ['w2'] })
      ]
    })
    const popover = await open()
    const items = within(popover).getAllByTestId('work-item')
    expect(items.map((i) => i.dataset['state'])).toEqual(['running', 'waiting', 'waiting'])
    expect(items[1]?.textContent).toMatch(/edit_file\s*Notes.*waits behind Garden <b>/s)
    expect(items[2]?.textContent).toContain('waits behind edit_file')
    expect(popover.querySelector('b')).toBeNull()
    expect(screen.getByTestId('work').textContent).toContain('1 running, 2 waiting, 0 background jobs')
  })

  it('stops one call, and goes to its session', async () => {
    const { state, calls } = show()
    state.accept({ type: 'work', work: [work('w1', { sessionId: 's2', tool: 'run_command', state: 'running' })] })
    const popover = await open()
    await fireEvent.click(within(popover).getByRole('button', { name: 'Stop run_command' }))
    expect(calls).toEqual([['run.cancelCall', { sessionId: 's2', callId: 'c-w1' }]])
    await fireEvent.click(within(popover).getByRole('button', { name: 'Garden <b>' }))
    expect(place.sessionId).toBe('s2')
    await waitFor(() => {
      expect(screen.queryByTestId('work-popover')).toBeNull()
    })
  })

  it('follows what changes while it is open', async () => {
    const { state } = show()
    state.accept({ type: 'work', work: [work('w1')] })
    const popover = await open()
    state.accept({ type: 'work', work: [] })
    await waitFor(() => {
      expect(within(popover).queryByTestId('work-item')).toBeNull()
    })
  })
})

describe('background jobs', () => {
  it('stand with those that run first, and how the others ended', async () => {
    const { state } = show()
    state.accept({
      type: 'jobs',
      jobs: [job('j1', { state: 'exited', exitCode: 2, startedAt: 9, endedAt: 4_009 }), job('j2', { command: 'rm \u202etxt' })]
    })
    const items = within(await open()).getAllByTestId('job')
    expect(items.map((i) => i.dataset['state'])).toEqual(['running', 'exited'])
    expect(items[0]?.textContent).toContain('rm U+202Etxt')
    expect(items[1]?.textContent).toContain('exit code 2')
    expect(within(items[1] as HTMLElement).queryByTestId('stop-job')).toBeNull()
    expect(screen.getByTestId('work').textContent).toMatch(/0 waiting, 1 background job\s*1\s*$/)
  })

  it('show their output as it grows, one request at a time', async () => {
    let reads = 0
    let inFlight = 0
    let most = 0
    const read = async () => {
      most = Math.max(most, ++inFlight)
      await new Promise((resolve) => setTimeout(resolve, 5))
      inFlight--
      return { job: job('j1'), text: `<i>output</i> ${String(++reads)}` }
    }
    const { state } = show({ 'jobs.read': read })
    state.accept({ type: 'jobs', jobs: [job('j1')] })
    const popover = await open()
    await fireEvent.click(within(popover).getByRole('button', { expanded: false }))
    expect((await screen.findByTestId('job-output')).textContent).toBe('<i>output</i> 1')
    for (let bytes = 11; bytes < 40; bytes++) {
      state.accept({ type: 'jobs', jobs: [job('j1', { bytes })] })
      await Promise.resolve()
    }
    await waitFor(() => {
      expect(screen.getByTestId('job-output').textContent).not.toBe('<i>output</i> 1')
    })
    await waitFor(() => {
      expect(inFlight).toBe(0)
    })
    expect(most).toBe(1)
    expect(reads).toBeLessThan(29)
  })

  it('can be stopped', async () => {
    const { state, calls } = show()
    state.accept({ type: 'jobs', jobs: [job('j1')] })
    await open()
    await fireEvent.click(screen.getByTestId('stop-job'))
    expect(calls).toEqual([['jobs.stop', { jobId: 'j1' }]])
  })
})

it('has no accessibility violations', async () => {
  const { state } = show()
  state.accept({ type: 'work', work: [work('w1', { state: 'running' }), work('w2', { behind: ['w1'] })] })
  state.accept({ type: 'jobs', jobs: [job('j1')] })
  const popover = await open()
  const { violations } = await axe.run(popover, { rules: { region: { enabled: false }, 'color-contrast': { enabled: false } } })
  expect(violations).toEqual([])
})
