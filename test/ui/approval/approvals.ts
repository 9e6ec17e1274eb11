// Questions of every kind, and ways to draw and read their card.
import type { Decision } from '../../../src/shared/policy'
import type { Approval } from '../../../src/shared/session'
import ApprovalCard from '../../../src/renderer/src/views/approval/ApprovalCard.svelte'
import { draw } from '../support'

export const FILE: Approval = {
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
export const DECISION: Decision = {
  verdict: 'ask',
  code: 'mode.ask',
  rule: { source: 'mode', text: 'ask' },
  why: 'This session asks before every effect.',
  touched: { reads: ['/etc/hosts'], writes: ['/home/ada/notes/out'], commands: ['npm test', 'curl'], hosts: ['example.org'], unsure: true },
  access: { network: true, reads: [], writes: ['/home/ada/.npm'], unsandboxed: false }
}
export const command = (more: Partial<Extract<Approval['preview'], { kind: 'command' }>> = {}): Approval => ({
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
export const ask = (choices: string[]): Approval => {
  const { grant, ...rest } = FILE
  return { ...rest, tool: 'ask_person', label: 'readonly', preview: { kind: 'question', question: 'Which <b>one</b>?', choices } }
}
export const shell = (command: string): Approval => ({
  ...FILE,
  tool: 'shell',
  label: 'exec',
  arguments: JSON.stringify({ command }),
  preview: { kind: 'arguments' }
})
export const show = (approval: Approval, api: Record<string, unknown> = {}) => draw(ApprovalCard, { approval, sessionId: 's1' }, { api })
export const answers = ({ calls }: ReturnType<typeof show>) => calls.filter(([path]) => path === 'run.answer').map(([, input]) => input)

/** What a reader sees, with marks turned back into the characters they stand for. */
export const read = (element: Element): string =>
  [...element.childNodes]
    .map((node) => {
      if (!(node instanceof HTMLElement)) return node.textContent ?? ''
      if (node.classList.contains('sr-only')) return ''
      const code = /^U\+([0-9A-F]+)$/.exec(node.classList.contains('mark') ? node.textContent : '')?.[1]
      return code === undefined ? read(node) : String.fromCodePoint(parseInt(code, 16))
    })
    .join('')
