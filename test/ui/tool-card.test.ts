import { fireEvent, screen } from '@testing-library/svelte'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { CallPart, ToolMessage } from '../../src/shared/message'
import type { ToolCard as LiveTool } from '../../src/shared/view'
import ToolCard from '../../src/renderer/src/views/tool/ToolCard.svelte'
import { completeJsdom, draw } from './support'

beforeEach(completeJsdom)

const call: CallPart = { type: 'call', id: 'c1', name: 'read_file', arguments: '{"path":"notes/a.md","lines":[1,20]}' }
const live = (more: Partial<LiveTool>): LiveTool => ({
  callId: 'c1',
  name: 'read_file',
  arguments: call.arguments,
  state: 'running',
  startedAt: Date.now(),
  ...more
})
const result = (more: Partial<ToolMessage> = {}): ToolMessage => ({
  role: 'tool',
  callId: 'c1',
  name: 'read_file',
  code: 'ok',
  text: 'words',
  durationMs: 1_240,
  ...more
})
const show = (now: { live?: LiveTool; result?: ToolMessage; busy?: boolean; call?: CallPart }) =>
  draw(ToolCard, { call: now.call ?? call, live: now.live, result: now.result, busy: now.busy ?? false })
const card = () => screen.getByTestId('tool-card')
const open = () => fireEvent.click(card().querySelector('button') as HTMLElement)

describe('how a call stands', () => {
  it.each([
    [{ busy: true }, 'checking', 'Checking'],
    [{ busy: true, live: live({ state: 'asking' }) }, 'asking', 'Needs approval'],
    [{ busy: true, live: live({}) }, 'running', 'Running'],
    [{ result: result() }, 'done', '1.2s'],
    [{ result: result({ code: 'outside_workspace' }) }, 'done', 'Outside the session’s folder'],
    [{ result: result({ code: 'never_heard_of' }) }, 'done', 'never_heard_of'],
    [{}, 'unfinished', 'No result']
  ])('%o', (now, state, words) => {
    show(now)
    expect(card().dataset['state']).toBe(state)
    expect(card().textContent).toContain(words)
  })

  it('says on what in one line', () => {
    show({ result: result() })
    expect(card().textContent).toContain('notes/a.md')
  })

  it('shows the share and the time left', () => {
    vi.spyOn(Date, 'now').mockReturnValue(100_000)
    show({ busy: true, live: live({ startedAt: 70_000, progress: { done: 25, total: 100, text: 'a.md' } }) })
    expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('25')
    expect(screen.getByTestId('tool-progress').textContent).toMatch(/a\.md.*25%.*25 of 100.*1m 30s left/)
    vi.restoreAllMocks()
  })
})

describe('its details', () => {
  it('show every argument and the result as text', async () => {
    show({ result: result({ text: '<script>window.__pwned=1</script>\n<b>bold?</b>' }) })
    expect(card().querySelector('pre')).toBeNull()
    await open()
    expect([...card().querySelectorAll('dd')].map((d) => d.textContent)).toEqual(['notes/a.md', '[\n  1,\n  20\n]'])
    expect(card().querySelector('pre')?.textContent).toBe('<script>window.__pwned=1</script>\n<b>bold?</b>')
    expect(card().querySelector('script, b')).toBeNull()
  })

  it('cut a long result until all of it is wanted', async () => {
    const text = Array.from({ length: 300 }, (_, i) => `line ${String(i)}`).join('\n')
    show({ result: result({ text }) })
    await open()
    expect(card().querySelector('pre')?.textContent).not.toContain('line 200')
    await fireEvent.click(screen.getByRole('button', { name: 'Show all 300 lines' }))
    expect(card().querySelector('pre')?.textContent).toBe(text)
  })

  it('show broken arguments as they came', async () => {
    show({ call: { ...call, arguments: '{"path":' }, result: result({ code: 'bad_json' }) })
    await open()
    expect(card().textContent).toContain('{"path":')
  })

  it('mark what cannot be seen in the summary', () => {
    show({ call: { ...call, name: 'shell', arguments: JSON.stringify({ command: 'rm -r \u202etxt.seton' }) } })
    expect(card().textContent).toContain('rm -r U+202Etxt.seton')
  })
})
