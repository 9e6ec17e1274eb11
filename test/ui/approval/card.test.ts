import { fireEvent, screen } from '@testing-library/svelte'
import axe from 'axe-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AppState } from '../../../src/shared/contract'
import type { Approval } from '../../../src/shared/session'
import ApprovalCard from '../../../src/renderer/src/views/approval/ApprovalCard.svelte'
import { texts } from '../../../src/renderer/src/text/index.svelte'
import { completeJsdom, draw } from '../support'
import { ask, command, DECISION, FILE, read, shell, show } from './approvals'

beforeEach(completeJsdom)
afterEach(() => {
  texts.choose('en')
})

describe('what it shows', () => {
  it('the whole path and the reason', () => {
    const path = `/home/ada/${'very/deep/'.repeat(60)}file \u202ename.md`
    const { container } = show({ ...FILE, preview: { ...FILE.preview, path } as Approval['preview'] })
    expect(read(screen.getByTestId('approval-path'))).toBe(path)
    expect(container.textContent).toContain('write_file · changes files')
    expect(screen.getByRole('alert').textContent).toContain('cannot be seen')
  })

  it('every line of the change, with both numbers', () => {
    show(FILE)
    const lines = [...screen.getByTestId('diff').querySelectorAll<HTMLElement>('.diff-line')]
    expect(
      lines.map((l) => [
        l.dataset['old'],
        l.dataset['new'],
        l.querySelector('.diff-sign')?.textContent,
        l.querySelector('.diff-text')?.textContent
      ])
    ).toEqual([
      ['1', '1', '', 'keep'],
      ['2', undefined, '−', 'old'],
      [undefined, '2', '+', 'new']
    ])
    expect(screen.getByRole('img', { name: '1 line added, 1 line removed' })).toBeTruthy()
  })

  it('a change of 6,000 lines without leaving one out', async () => {
    const diff = `@@ -0,0 +1,6000 @@\n${Array.from({ length: 6_000 }, (_, i) => `+line ${String(i)}`).join('\n')}\n\\ No newline at end of file`
    show({ ...FILE, preview: { ...FILE.preview, diff } as Approval['preview'] })
    expect(screen.getByTestId('diff-rest').textContent).toContain('3,002 more lines of the change are not shown yet')
    await fireEvent.click(screen.getByRole('button', { name: 'Show the next 3,000 lines' }))
    await fireEvent.click(screen.getByRole('button', { name: 'Show the next 2 lines' }))
    expect(screen.queryByTestId('diff-rest')).toBeNull()
    const shown = [...screen.getByTestId('diff').querySelectorAll('.diff-hunk, .diff-note, .diff-line')].map((l) => read(l))
    expect(shown.join('\n')).toBe(diff)
  })

  it.each(['rm -r \u202etxt.seton', 'echo ok\u200b && rm -r x', 'ls\r\nrm -r src', `cat ${'x'.repeat(5_000)}`])(
    'the command %j byte for byte',
    (command) => {
      show(shell(command))
      expect(read(screen.getByTestId('approval-arguments').querySelector('dd') as Element)).toBe(command)
    }
  )

  it('arguments that are no object as the text they are', () => {
    show({ ...shell(''), arguments: '{"command":"rm' })
    expect(read(screen.getByTestId('approval-arguments')).trim()).toBe('{"command":"rm')
  })

  it('a whole command with its folder, byte for byte', () => {
    const line = `rm -r \u202etxt.seton && ${'x'.repeat(5_000)}\nrm -r src # <img src=x onerror=alert(1)>`
    show(command({ command: line, cwd: '/home/ada/my\u200bnotes' }))
    expect(read(screen.getByTestId('approval-command')).trim()).toBe(line)
    expect(read(screen.getByTestId('approval-cwd'))).toBe('/home/ada/my\u200bnotes')
    expect(screen.getByTestId('approval-card').querySelector('img')).toBeNull()
    expect(screen.getByRole('alert').textContent).toContain('cannot be seen')
  })

  it.each<[string, Partial<AppState>, Approval, string]>([
    ['bubblewrap', {}, command(), 'Runs inside the sandbox of the system (bubblewrap).'],
    ['the call has none', {}, command({ sandbox: 'none', sandboxWhy: 'bwrap was not found' }), 'bwrap was not found'],
    ['this computer has none', { sandbox: { kind: 'none', why: 'Windows has none' } }, command(), 'Windows has none'],
    [
      'it is let out',
      {},
      { ...command(), decision: { ...DECISION, access: { ...DECISION.access, unsandboxed: true } } },
      'it can do everything that you can do'
    ]
  ])('what keeps a command in: %s', (_, app, approval, words) => {
    draw(ApprovalCard, { approval, sessionId: 's1' }, { app })
    expect(screen.getByTestId('approval-sandbox').textContent).toContain(words)
    expect(screen.getByTestId('approval-sandbox').dataset['loose']).toBe(String(words.includes('inside') ? false : true))
  })

  it('what it may touch, what it gets, and who asks', () => {
    show(command())
    const touched = screen.getByTestId('touched').textContent
    for (const each of ['npm test', 'curl', '/etc/hosts', '/home/ada/notes/out', 'example.org', 'change /home/ada/.npm'])
      expect(touched).toContain(each)
    expect(touched).toContain('nobody can know beforehand')
    expect(screen.getByTestId('approval-why').textContent).toMatch(/before every effect.*mode of this session.*ask/s)
  })

  it.each<[string, Approval['preview']]>([
    ['a file', { kind: 'file', path: '/w/a.md', to: '/w/b.md', change: 'move', diff: '', added: 0, removed: 0 }],
    ['an address', { kind: 'url', method: 'GET', url: 'https://example.org:8080/x' }]
  ])('nothing twice that is touched, when it is %s', (_, preview) => {
    const touched = {
      ...DECISION.touched,
      reads: ['/w/a.md'],
      writes: ['/w/a.md', '/w/b.md', '/w/c.md'],
      hosts: ['example.org:8080'],
      commands: []
    }
    show({ ...FILE, preview, decision: { ...DECISION, touched } })
    const listed = screen.getByTestId('touched').querySelector('dl')?.textContent
    expect(listed).toContain('/w/c.md')
    if (preview.kind === 'file') expect(listed).not.toMatch(/a\.md|b\.md/)
    else expect(listed).not.toContain('example.org')
  })

  it('a warning when the call follows from text from outside', () => {
    show({ ...command(), decision: { ...DECISION, code: 'foreign' } })
    expect(screen.getByTestId('approval-foreign').textContent).toContain('came from outside')
  })

  it('that it may have happened already', () => {
    show({ ...FILE, again: true })
    expect(screen.getByTestId('approval-again').textContent).toContain('may have happened already')
  })

  it.each<[string, Partial<Extract<Approval['preview'], { kind: 'file' }>>, string, string]>([
    ['create', { change: 'create' }, 'create a file', 'An empty file.'],
    ['replace', { change: 'replace' }, 'replace a file', 'stay as it is'],
    ['edit', { change: 'edit' }, 'edit a file', 'stay as it is'],
    ['move', { change: 'move', to: '/home/ada/notes/done.md' }, 'move a file', '/home/ada/notes/done.md'],
    ['delete', { change: 'delete' }, 'delete a file', 'not a text file']
  ])('a file without a difference: %s', (_, more, title, words) => {
    show({ ...FILE, preview: { kind: 'file', path: '/a', change: 'edit', diff: '', added: 0, removed: 0, ...more } })
    expect(screen.getByRole('heading', { name: `Tau wants to ${title}` })).toBeTruthy()
    expect(screen.getByTestId('approval-card').textContent).toContain(words)
    expect(screen.queryByTestId('diff')).toBeNull()
  })

  it('a web address with its method', () => {
    show({ ...FILE, preview: { kind: 'url', method: 'POST', url: 'https://example.org/\u202ex?q=<b>' } })
    expect(read(screen.getByTestId('approval-url'))).toContain('POSThttps://example.org/\u202ex?q=<b>')
  })

  it.each<[string, Approval]>([
    ['folder of a command', command({ cwd: '/home/ada/my\u200bnotes' })],
    [
      'target of a move',
      { ...FILE, preview: { kind: 'file', path: '/a', to: '/b\u202e', change: 'move', diff: '', added: 0, removed: 0 } }
    ],
    ['choice of a question', ask(['Y\u200bes'])]
  ])('a warning when something unseen is in the %s', (_, approval) => {
    show(approval)
    expect(screen.getByRole('alert').textContent).toContain('cannot be seen')
  })

  it('letters of two alphabets in one word of a command', () => {
    show(command({ command: 'npm run te\u0455t' }))
    expect(screen.getByRole('alert').textContent).toContain('look alike')
  })

  it('everything in Chinese', async () => {
    texts.choose('zh')
    const { container } = show({ ...command({ sandbox: 'none' }), decision: { ...DECISION, code: 'secret' }, again: true })
    expect(screen.getByRole('heading', { name: 'Tau 想运行一条命令' })).toBeTruthy()
    expect(screen.getByTestId('approval-why').textContent).toContain('这涉及看起来像机密的内容')
    await fireEvent.click(screen.getByTestId('allow-always'))
    expect(container.textContent).not.toMatch(/undefined|\[object/)
  })

  it('markup in a command as text', () => {
    show(shell('<img src=x onerror=alert(1)>'))
    expect(screen.getByTestId('approval-arguments').querySelector('img')).toBeNull()
  })
})

it.each<[string, Approval, string | undefined]>([
  ['a file', FILE, 'deny'],
  ['a command and its rule', command(), 'allow-always'],
  ['a question', ask(['Yes', 'No']), undefined]
])('has no accessibility violations: %s', async (_, approval, button) => {
  const { container } = show(approval)
  if (button !== undefined) await fireEvent.click(screen.getByTestId(button))
  const { violations } = await axe.run(container, { rules: { region: { enabled: false }, 'color-contrast': { enabled: false } } })
  expect(violations).toEqual([])
})
