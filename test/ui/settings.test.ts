import { fireEvent, screen, waitFor, within } from '@testing-library/svelte'
import axe from 'axe-core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Decision, Grant, PolicyState } from '../../src/shared/policy'
import { place } from '../../src/renderer/src/lib/place.svelte'
import { notify } from '../../src/renderer/src/lib/notify.svelte'
import { texts } from '../../src/renderer/src/text/index.svelte'
import SettingsDialog from '../../src/renderer/src/views/settings/SettingsDialog.svelte'
import { completeJsdom, draw, SESSION } from './support'

beforeEach(completeJsdom)
afterEach(() => {
  place.sessionId = undefined
  texts.choose('en')
})

const POLICY: PolicyState = {
  path: '/home/ada/.tau/<policy>.json',
  exists: true,
  mode: 'workspace',
  rules: [
    { verdict: 'allow', tool: 'run_command', command: 'npm test **' },
    { verdict: 'deny', path: '~/.ssh/**', note: 'Nobody needs <b>my</b> keys.' },
    { verdict: 'ask' }
  ]
}
const GRANTS: Grant[] = [
  { id: 'g1', workspace: '/home/ada/notes', rule: { verdict: 'allow', tool: 'edit_file', path: 'notes/**' }, grantedAt: 1 },
  { id: 'g2', workspace: '/home/ada/notes', sessionId: 's1', rule: { verdict: 'allow', host: '*.example.org' }, grantedAt: 2 }
]
const USAGE = { bytes: 2e8, calls: 3, limitBytes: 1e9, limitAgeMs: 30 * 86_400_000, oldestAt: 1_000 }
const DECISION: Decision = {
  verdict: 'deny',
  code: 'outside_workspace',
  rule: { source: 'safety', text: 'rm outside' },
  why: 'It would delete <i>files</i> outside the workspace.',
  touched: { reads: [], writes: [], commands: [], hosts: [], unsure: false },
  access: { network: false, reads: [], writes: [], unsandboxed: false }
}
const show = (api: Record<string, unknown> = {}) =>
  draw(SettingsDialog, { open: true }, { api: { 'policy.show': () => Promise.resolve(POLICY), ...api } })
const go = async (tab: string) => {
  await fireEvent.click(await screen.findByTestId(`settings-${tab}`))
}

describe('the rules', () => {
  it('stand in their order, with where the file is and what new sessions may do', async () => {
    show()
    const list = await screen.findByTestId('policy-rules')
    expect(
      within(list)
        .getAllByTestId('rule-line')
        .map((r) => r.textContent.replaceAll(/\s+/g, ' ').trim())
    ).toEqual(['Allow Tool run_command Command npm test **', 'Deny Path ~/.ssh/**', 'Ask everything'])
    expect(list.textContent).toContain('Nobody needs <b>my</b> keys.')
    expect(screen.getByTestId('policy-path').textContent).toBe('/home/ada/.tau/<policy>.json')
    expect(screen.getByTestId('settings').textContent).toContain('Workspace — Tau edits files')
  })

  it('are not there yet', async () => {
    show({ 'policy.show': () => Promise.resolve({ ...POLICY, exists: false, rules: [] }) })
    await waitFor(() => {
      expect(screen.getByTestId('settings').textContent).toContain('There is no policy file yet')
    })
  })

  it('cannot be used', async () => {
    show({ 'policy.show': () => Promise.resolve({ ...POLICY, rules: [], fault: { code: 'bad', message: 'Line 4 is odd.' } }) })
    expect((await screen.findByTestId('policy-fault')).textContent).toContain('so every effect asks: Line 4 is odd.')
  })

  it('can be read again when that failed', async () => {
    let asked = 0
    show({ 'policy.show': () => (++asked === 1 ? Promise.reject(new Error('cut')) : Promise.resolve(POLICY)) })
    await fireEvent.click(within(await screen.findByTestId('settings-failed')).getByRole('button'))
    await screen.findByTestId('policy-rules')
  })
})

describe('a command that is tested', () => {
  const test = {
    tool: 'run_command',
    label: 'exec',
    decision: DECISION,
    parts: [
      { what: 'npm test', verdict: 'allow', rule: 'allow npm test **', why: 'Your file allows it.' },
      { what: 'rm -rf ~', verdict: 'deny', rule: 'rm outside', why: 'It would delete files.' }
    ]
  }
  const ask = async (command: string) => {
    const field = await screen.findByTestId('test-command')
    await fireEvent.input(field, { target: { value: command } })
    await fireEvent.click(screen.getByTestId('test-go'))
  }

  it('shows the verdict, why, and which rule decides each part', async () => {
    place.sessionId = 's1'
    const { calls, state } = show({ 'policy.test': () => Promise.resolve(test) })
    state.put([SESSION])
    await ask('npm test && rm -rf ~')
    const result = await screen.findByTestId('test-result')
    expect(result.dataset['verdict']).toBe('deny')
    expect(result.textContent).toMatch(/It would be refused.*delete <i>files<\/i> outside.*safety rule.*rm outside/s)
    expect(screen.getAllByTestId('test-part').map((p) => p.textContent.replaceAll(/\s+/g, ' ').trim())).toEqual([
      'Allow npm test Your file allows it. allow npm test **',
      'Deny rm -rf ~ It would delete files. rm outside'
    ])
    expect(calls).toContainEqual(['policy.test', { sessionId: 's1', call: { command: 'npm test && rm -rf ~' } }])
  })

  it('counts as in a new session where none is open', async () => {
    const { calls } = show({ 'policy.test': () => Promise.resolve(test) })
    await ask('ls')
    await screen.findByTestId('test-result')
    expect(calls).toContainEqual(['policy.test', { workspace: '/home/ada/notes', call: { command: 'ls' } }])
  })

  it('says when it could not be tested', async () => {
    show({ 'policy.test': () => Promise.reject(new Error('no answer')) })
    await ask('ls')
    expect((await screen.findByRole('alert')).textContent).toContain('no answer')
  })
})

describe('what was granted', () => {
  it('is listed with where it holds, and can be taken back', async () => {
    const list = [...GRANTS]
    const { calls, state } = show({
      'policy.grants': () => Promise.resolve([...list]),
      'policy.revoke': () => {
        list.shift()
        return Promise.resolve({ revoked: true })
      }
    })
    state.put([SESSION])
    await go('grants')
    const items = await screen.findAllByTestId('grant')
    expect(items[0]?.textContent).toMatch(/edit_file.*notes\/\*\*.*in this workspace/s)
    expect(items[1]?.textContent).toContain('in one session: Notes')
    await fireEvent.click(within(items[0] as HTMLElement).getByTestId('revoke'))
    await waitFor(() => {
      expect(screen.getAllByTestId('grant')).toHaveLength(1)
    })
    expect(calls).toContainEqual(['policy.revoke', { grantId: 'g1' }])
  })

  it('is nothing', async () => {
    show({ 'policy.grants': () => Promise.resolve([]) })
    await go('grants')
    await waitFor(() => {
      expect(screen.getByTestId('settings').textContent).toContain('You granted nothing that lasts')
    })
  })
})

describe('what is kept for undo', () => {
  it('is told with its limits, and forgotten only after a second question', async () => {
    const { calls } = show({
      'undo.usage': () => Promise.resolve(USAGE),
      'undo.clear': () => Promise.resolve({ ...USAGE, bytes: 0, calls: 0, oldestAt: undefined })
    })
    await go('undo')
    const usage = await screen.findByTestId('undo-usage')
    expect(usage.textContent).toMatch(/200 MB of 1 GB.*Kept for 30 days.*3 calls can be undone/s)
    await fireEvent.click(screen.getByTestId('clear-kept'))
    expect(calls.map(([path]) => path)).not.toContain('undo.clear')
    await fireEvent.click(screen.getByTestId('clear-sure'))
    await waitFor(() => {
      expect(screen.getByTestId('undo-usage').textContent).toContain('Nothing is kept yet')
    })
    expect(screen.queryByTestId('clear-kept')).toBeNull()
  })
})

describe('notifications', () => {
  afterEach(() => {
    vi.unstubAllGlobals()
    localStorage.clear()
    notify.state = 'missing'
  })

  it('are asked for by a click only, and turned off again', async () => {
    const system = { permission: 'default', requestPermission: vi.fn(() => Promise.resolve((system.permission = 'granted'))) }
    vi.stubGlobal('Notification', system)
    notify.turnOff()
    show()
    await go('notify')
    expect(system.requestPermission).not.toHaveBeenCalled()
    await fireEvent.click(screen.getByTestId('notify-on'))
    await fireEvent.click(await screen.findByTestId('notify-off'))
    expect(screen.getByTestId('notify').dataset['state']).toBe('off')
  })

  it.each([
    [{ permission: 'denied' }, 'blocked here'],
    [undefined, 'knows no notifications']
  ])('say when they cannot be had', async (system, words) => {
    vi.stubGlobal('Notification', system)
    notify.turnOff()
    show()
    await go('notify')
    expect(screen.getByTestId('notify').textContent).toContain(words)
    expect(screen.queryByTestId('notify-on')).toBeNull()
  })
})

it.each(['rules', 'grants', 'undo', 'notify'])('has no accessibility violations: %s', async (tab) => {
  texts.choose('zh')
  show({ 'policy.grants': () => Promise.resolve(GRANTS), 'undo.usage': () => Promise.resolve(USAGE) })
  await go(tab)
  const { violations } = await axe.run(screen.getByTestId('settings'), {
    rules: { region: { enabled: false }, 'color-contrast': { enabled: false } }
  })
  expect(violations).toEqual([])
})
