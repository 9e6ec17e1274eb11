// A question to the person in a terminal: the whole of what would happen, why it is asked, and what "always" would store.
import { createInterface, type Interface } from 'node:readline/promises'
import { styleText } from 'node:util'
import { Rule } from '../../../shared/policy'
import type { Answer, Approval, Preview } from '../../../shared/session'
import { inert } from '../printer'
import { ruleLine } from './policy'
import { text } from './text'

/** All that a person must know to answer, as lines. */
export function describe({ preview, decision, grant, arguments: raw }: Approval): string {
  const lines = [whatOf(preview, raw)]
  const touched = decision?.touched
  if (touched && preview.kind !== 'file')
    for (const key of ['reads', 'writes', 'hosts'] as const)
      if (touched[key].length > 0) lines.push(`${text.touches[key]}: ${touched[key].map(inert).join(', ')}`)
  if (decision?.code === 'foreign') lines.push(styleText('yellow', text.foreign))
  if (decision) lines.push(text.because(`${inert(decision.why)} [${inert(decision.rule.text)}]`))
  if (grant) lines.push(text.always(ruleLine(grant)))
  return lines.join('\n')
}

function whatOf(preview: Preview, raw: string): string {
  switch (preview.kind) {
    case 'file': {
      const to = preview.to === undefined ? '' : ` → ${inert(preview.to)}`
      const head = `${text.changes[preview.change]} ${inert(preview.path)}${to} (+${String(preview.added)} −${String(preview.removed)})`
      return preview.diff === '' ? head : `${head}\n${coloured(preview.diff)}`
    }
    case 'command': {
      const how = [
        text.inFolder(inert(preview.cwd)),
        ...(preview.network ? [text.network] : []),
        ...(preview.background ? [text.background] : [])
      ]
      const open = preview.sandbox === 'none' ? [styleText('yellow', text.noSandbox(inert(preview.sandboxWhy ?? '')))] : []
      return [styleText('bold', inert(preview.command)), how.join(', '), ...open].join('\n')
    }
    case 'url':
      return `${inert(preview.method)} ${inert(preview.url)}`
    case 'question':
      return [inert(preview.question), ...preview.choices.map((choice, i) => `  ${String(i + 1)}. ${inert(choice)}`)].join('\n')
    case 'arguments':
      return inert(raw)
  }
}

/** A unified difference, its lines in colour. */
export const coloured = (diff: string): string =>
  diff
    .split('\n')
    .map((row) => styleText(row.startsWith('+') ? 'green' : row.startsWith('-') ? 'red' : 'gray', inert(row)))
    .join('\n')

/** Asks until there is an answer; a bare Enter is none. */
export async function askPerson(approval: Approval): Promise<Answer> {
  process.stderr.write(`\n${styleText('bold', text.wants(approval.tool, approval.label))}\n${describe(approval)}\n`)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return approval.preview.kind === 'question' ? await reply(terminal, approval.preview.choices) : await choose(terminal, approval)
  } finally {
    terminal.close()
  }
}

async function reply(terminal: Interface, choices: readonly string[]): Promise<Answer> {
  for (;;) {
    const said = (await terminal.question(text.reply)).trim()
    if (said !== '') return { kind: 'reply', text: (/^\d+$/.test(said) ? choices[Number(said) - 1] : undefined) ?? said }
  }
}

async function choose(terminal: Interface, { grant }: Approval): Promise<Answer> {
  let rule = grant
  for (;;) {
    const said = (await terminal.question(rule ? text.ask : text.askOnce)).trim().toLowerCase()
    if (said === 'y') return { kind: 'allow', scope: 'once' }
    if (said === 'n') return { kind: 'deny', reason: (await terminal.question(text.why)).slice(0, 2_000) }
    if (rule && (said === 's' || said === 'a')) return { kind: 'allow', scope: said === 's' ? 'session' : 'always', rule }
    if (rule && said === 'r') rule = ruleOf(await terminal.question(text.newRule)) ?? complain(rule)
  }
}

const complain = (rule: Rule): Rule => {
  process.stderr.write(`${text.badRule}\n`)
  return rule
}

/** A rule from its JSON; undefined when it is none. */
export function ruleOf(json: string): Rule | undefined {
  try {
    return Rule.parse(JSON.parse(json))
  } catch {
    return undefined
  }
}
