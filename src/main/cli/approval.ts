// Approvals in a terminal: the whole path and the whole difference, then a question. Without a terminal the flags decide.
import { createInterface } from 'node:readline/promises'
import { styleText } from 'node:util'
import type { Answer, Approval } from '../../shared/session'
import { inert } from './printer'
import { text } from './text'

export async function answerFor(approval: Approval, allowed: ReadonlySet<string>): Promise<Answer> {
  if (allowed.has(approval.label)) return { kind: 'allow', scope: 'once' }
  if (!process.stdin.isTTY || !process.stderr.isTTY) return { kind: 'deny', reason: text.refused }
  process.stderr.write(`\n${styleText('bold', text.wants(approval.tool, approval.label))}\n${describe(approval)}\n`)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    for (;;) {
      const said = (await terminal.question(text.question)).trim().toLowerCase()
      if (said === 'y') return { kind: 'allow', scope: 'once' }
      if (said === 's') return { kind: 'allow', scope: 'session' }
      if (said === 'n') return { kind: 'deny', reason: (await terminal.question(text.why)).slice(0, 2_000) }
    }
  } finally {
    terminal.close()
  }
}

export function describe({ preview, arguments: raw }: Approval): string {
  if (preview.kind !== 'file') return inert(raw)
  const lines = preview.diff.split('\n').map((line) => {
    const colour = line.startsWith('+') ? 'green' : line.startsWith('-') ? 'red' : 'gray'
    return styleText(colour, inert(line))
  })
  return `${text.file(preview.change, inert(preview.path))} (+${String(preview.added)} −${String(preview.removed)})\n${lines.join('\n')}`
}
