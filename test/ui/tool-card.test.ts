import { fireEvent, screen, waitFor } from '@testing-library/svelte'
import { ORPCError } from '@orpc/client'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { CallPart, ToolMessage } from '../../src/shared/message'
import type { KeptCall } from '../../src/shared/undo'
import type { ToolCard as LiveTool } from '../../src/shared/view'
import ToolCard from '../../src/renderer/src/views/tool/ToolCard.svelte'
import { completeJsdom, draw, SESSION } from './support'

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
interface Now {
  live?: LiveTool
  result?: ToolMessage
  busy?: boolean
  call?: CallPart
  kept?: KeptCall
}
const onundo = vi.fn()
const show = (now: Now, api: Record<string, unknown> = {}) =>
  draw(
    ToolCard,
    {
      call: now.call ?? call,
      live: now.live,
      result: now.result,
      kept: now.kept,
      busy: now.busy ?? false,
      sessionId: 's1',
      onundo
    },
    { api }
  )
const card = () => screen.getByTestId('tool-card')
const open = () => fireEvent.click(card().querySelector('button') as HTMLElement)

describe('how a call stands', () => {
  it.each([
    [{ busy: true }, 'checking', 'Checking'],
    [{ busy: true, live: live({ state: 'asking' }) }, 'asking', 'Needs your answer'],
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

  it.each<[string, LiveTool['behind'], string]>([
    ['a call of its own session', [{ sessionId: 's1', callId: 'c0', tool: 'edit_file' }], 'waits for edit_file'],
    ['another session', [{ sessionId: 's2', callId: 'c0', tool: 'shell' }], 'waits for Garden'],
    ['one that nobody knows', [{ sessionId: 's9', callId: 'c0', tool: 'shell' }], 'waits for another session'],
    [
      'several, each named once',
      [
        { sessionId: 's2', callId: 'c0', tool: 'shell' },
        { sessionId: 's2', callId: 'c3', tool: 'shell' },
        { sessionId: 's1', callId: 'c4', tool: 'edit_file' }
      ],
      'waits for Garden and 1 more'
    ],
    ['its turn', [], 'Waiting for its turn']
  ])('waits for %s', async (_, behind, words) => {
    const { state } = show({ busy: true, live: live({ state: 'waiting', behind: behind ?? [] }) })
    state.put([{ ...SESSION, id: 's2', title: 'Garden' }])
    await waitFor(() => {
      expect(card().textContent).toContain(words)
    })
  })

  it.each([
    ['running', true],
    ['waiting', true],
    ['asking', false],
    ['checking', false]
  ] as const)('can be stopped alone while it is %s: %s', async (state, can) => {
    const { calls } = show({ busy: true, live: live({ state }) })
    const button = screen.queryByRole('button', { name: 'Stop only this call of read_file' })
    expect(button !== null).toBe(can)
    if (!button) return
    await fireEvent.click(button)
    expect(calls).toEqual([['run.cancelCall', { sessionId: 's1', callId: 'c1' }]])
  })

  it('shows the newest lines of a long output, as text', () => {
    const text = `${Array.from({ length: 900 }, (_, i) => `line ${String(i)}`).join('\n')}\n<b>last</b>\u202e`
    show({ busy: true, live: live({ progress: { done: 12, text } }) })
    const shown = screen.getByTestId('live-output')
    expect(shown.textContent).toContain('line 899\n<b>last</b>U+202E')
    expect(shown.textContent).not.toContain('line 880')
    expect(shown.querySelector('b')).toBeNull()
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

describe('what it changed', () => {
  const kept = (more: Partial<KeptCall> = {}): KeptCall => ({
    id: 'k1',
    sessionId: 's1',
    runId: 'r1',
    callId: 'c1',
    tool: 'edit_file',
    at: 1,
    isUndo: false,
    changes: [
      { path: 'a.md', before: 'file', after: 'file', added: 3, removed: 1, bytesBefore: 10, bytesAfter: 20 },
      { path: '<b>.md', before: 'absent', after: 'file', added: 4, removed: 0, bytesBefore: 0, bytesAfter: 20 }
    ],
    limits: [],
    ...more
  })

  it('is told, and can be undone', async () => {
    show({ result: result(), kept: kept() })
    expect(screen.getByTestId('kept').textContent).toMatch(/Changed 2 files.*\+7.*−1/)
    await fireEvent.click(screen.getByRole('button', { name: 'Undo what read_file changed' }))
    expect(onundo).toHaveBeenLastCalledWith({ kind: 'call', id: 'k1' })
  })

  it('names the file when it is one', () => {
    show({ result: result(), kept: kept({ changes: kept().changes.slice(1) }) })
    expect(screen.getByTestId('kept').textContent).toContain('<b>.md')
    expect(screen.getByTestId('kept').querySelector('b')).toBeNull()
  })

  it('was undone, and the undo can be taken back', async () => {
    show({ result: result(), kept: kept({ undoneBy: 'k2' }) })
    expect(screen.getByTestId('kept').textContent).toContain('Undone')
    await fireEvent.click(screen.getByRole('button', { name: 'Take the undo back…' }))
    expect(onundo).toHaveBeenLastCalledWith({ kind: 'call', id: 'k2' })
  })

  it('is nothing', () => {
    show({ result: result(), kept: kept({ changes: [] }) })
    expect(screen.queryByTestId('kept')).toBeNull()
  })
})

describe('its output', () => {
  it('shows pictures of kinds that run nothing', () => {
    const image = (mime: string) => ({ type: 'image' as const, mime, data: 'AAAA' })
    show({ result: result({ images: [image('image/png'), image('image/svg+xml'), image('text/html')] }) })
    expect([...card().querySelectorAll('img')].map((i) => i.getAttribute('src'))).toEqual(['data:image/png;base64,AAAA'])
  })

  it('marks where the tool cut it', async () => {
    show({ result: result({ text: 'one\n[cut: 300 more lines; lookup_reference r1 reads on]\ntwo [x] […]' }) })
    await open()
    expect([...card().querySelectorAll('.cut')].map((c) => c.textContent)).toEqual(['[cut: 300 more lines; lookup_reference r1 reads on]'])
    expect(card().querySelector('pre')?.textContent).toBe('one\n[cut: 300 more lines; lookup_reference r1 reads on]\ntwo [x] […]')
  })

  it('says that it came from outside', async () => {
    show({ result: result({ foreign: true }) })
    await open()
    expect(card().textContent).toContain('from outside')
  })

  it('is there whole, page by page', async () => {
    const pages = [
      { text: '<b>first</b>', more: true, bytes: 5_000_000 },
      { text: 'second', more: false, bytes: 5_000_000 }
    ]
    const { calls } = show({ result: result({ ref: 'r7' }) }, { 'output.read': () => Promise.resolve(pages.shift()) })
    await open()
    await fireEvent.click(screen.getByTestId('show-whole'))
    await fireEvent.click(await screen.findByTestId('whole-more'))
    const dialog = screen.getByTestId('whole-output')
    await waitFor(() => {
      expect([...dialog.querySelectorAll('pre')].map((p) => p.textContent)).toEqual(['<b>first</b>', 'second'])
    })
    expect(dialog.textContent).toContain('5 MB')
    expect(screen.queryByTestId('whole-more')).toBeNull()
    expect(calls.map(([, input]) => input)).toEqual([
      { ref: 'r7', from: 1, lines: 2_000 },
      { ref: 'r7', from: 2_001, lines: 2_000 }
    ])
  })

  it.each([
    [new ORPCError('NOT_FOUND'), 'no longer kept'],
    [new Error('cut'), 'connection was cut']
  ])('says when it cannot be read: %s', async (error, words) => {
    show({ result: result({ ref: 'r7' }) }, { 'output.read': () => Promise.reject(error) })
    await open()
    await fireEvent.click(screen.getByTestId('show-whole'))
    expect((await screen.findByRole('alert')).textContent).toContain(words)
  })
})
