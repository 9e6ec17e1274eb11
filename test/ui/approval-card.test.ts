import { fireEvent, screen, waitFor } from '@testing-library/svelte'
import axe from 'axe-core'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Approval } from '../../src/shared/session'
import ApprovalCard from '../../src/renderer/src/views/tool/ApprovalCard.svelte'
import { completeJsdom, draw } from './support'

beforeEach(completeJsdom)

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
  askedAt: 1
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

  it('a change of 6,000 lines without leaving one out', () => {
    const diff = `@@ -0,0 +1,6000 @@\n${Array.from({ length: 6_000 }, (_, i) => `+line ${String(i)}`).join('\n')}\n\\ No newline at end of file`
    show({ ...FILE, preview: { ...FILE.preview, diff } as Approval['preview'] })
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

it('has no accessibility violations', async () => {
  const { container } = show(FILE)
  await fireEvent.click(screen.getByTestId('deny'))
  const { violations } = await axe.run(container, { rules: { region: { enabled: false }, 'color-contrast': { enabled: false } } })
  expect(violations).toEqual([])
})
