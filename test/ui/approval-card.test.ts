import { fireEvent, screen, waitFor, within } from '@testing-library/svelte'
import { ORPCError } from '@orpc/client'
import axe from 'axe-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Decision } from '../../src/shared/policy'
import type { Approval } from '../../src/shared/session'
import type { AppState } from '../../src/shared/contract'
import ApprovalCard from '../../src/renderer/src/views/approval/ApprovalCard.svelte'
import ApprovalDeck from '../../src/renderer/src/views/approval/ApprovalDeck.svelte'
import { toasts } from '../../src/renderer/src/lib/toasts.svelte'
import { texts } from '../../src/renderer/src/text/index.svelte'
import { completeJsdom, draw } from './support'

beforeEach(completeJsdom)
afterEach(() => {
  texts.choose('en')
  toasts.list = []
})

const FILE: Approval = {
  id: 'a1',
  runId: 'r1',
  callId: 'c1',
  tool: 'write_file',
  label: 'write',
  arguments: '{"path":"todo.md"}',
  preview: {
    kind: 'file',
    path: '/home/ada/notes/todo.md',
    change: 'replace',
    diff: '@@ -1,2 +1,2 @@\n keep\n-old\n+new\n',
    added: 1,
    removed: 1
  },
  grant: { verdict: 'allow', tool: 'write_file', path: 'todo.md' },
  askedAt: 1
}
const DECISION: Decision = {
  verdict: 'ask',
  code: 'mode.ask',
  rule: { source: 'mode', text: 'ask' },
  why: 'This session asks before every effect.',
  touched: { reads: ['/etc/hosts'], writes: ['/home/ada/notes/out'], commands: ['npm test', 'curl'], hosts: ['example.org'], unsure: true },
  access: { network: true, reads: [], writes: ['/home/ada/.npm'], unsandboxed: false }
}
const command = (more: Partial<Extract<Approval['preview'], { kind: 'command' }>> = {}): Approval => ({
  ...FILE,
  tool: 'shell',
  label: 'exec',
  arguments: '{}',
  preview: {
    kind: 'command',
    command: 'npm test',
    cwd: '/home/ada/notes',
    network: false,
    background: false,
    sandbox: 'bubblewrap',
    ...more
  },
  decision: DECISION,
  grant: { verdict: 'allow', tool: 'shell', command: 'npm test' }
})
const ask = (choices: string[]): Approval => {
  const { grant, ...rest } = FILE
  return { ...rest, tool: 'ask_person', label: 'readonly', preview: { kind: 'question', question: 'Which <b>one</b>?', choices } }
}
const shell = (command: string): Approval => ({
  ...FILE,
  tool: 'shell',
  label: 'exec',
  arguments: JSON.stringify({ command }),
  preview: { kind: 'arguments' }
})
const show = (approval: Approval, api: Record<string, unknown> = {}) => draw(ApprovalCard, { approval, sessionId: 's1' }, { api })
const answers = ({ calls }: ReturnType<typeof show>) => calls.filter(([path]) => path === 'run.answer').map(([, input]) => input)

/** What a reader sees, with marks turned back into the characters they stand for. */
const read = (element: Element): string =>
  [...element.childNodes]
    .map((node) => {
      if (!(node instanceof HTMLElement)) return node.textContent ?? ''
      if (node.classList.contains('sr-only')) return ''
      const code = /^U\+([0-9A-F]+)$/.exec(node.classList.contains('mark') ? node.textContent : '')?.[1]
      return code === undefined ? read(node) : String.fromCodePoint(parseInt(code, 16))
    })
    .join('')

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
