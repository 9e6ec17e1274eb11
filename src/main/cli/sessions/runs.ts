// `tau runs`, `tau replay`, `tau continue`, `tau answer`: what happened in a session, and how it goes on.
import { setTimeout as sleep } from 'node:timers/promises'
import { styleText } from 'node:util'
import type { RunReport } from '../../../shared/contract'
import type { Rule } from '../../../shared/policy'
import type { Answer, Run } from '../../../shared/session'
import { emptyView, fold, plainView } from '../../../shared/view'
import type { Client } from '../../app/owner/visitor'
import { describe, ruleOf } from '../trust/question'
import { text as trust } from '../trust/text'
import { follow, type AskOptions } from '../ask'
import { EXIT, Failure } from '../failure'
import { findSession, oneOf } from './find'
import { createPrinter, inert } from '../printer'
import { text } from '../text'

const line = (words: string): void => void process.stdout.write(`${words}\n`)

export function printRuns(reports: readonly RunReport[], options: { json?: boolean }): number {
  if (options.json) for (const report of reports) line(JSON.stringify(report))
  else if (reports.length === 0) line(text.noRuns)
  for (const { run, calls } of options.json ? [] : reports) {
    line(`${run.id}  ${new Date(run.startedAt).toISOString().slice(0, 19).replace('T', ' ')}  ${run.state.padEnd(11)}  ${reasonOf(run)}`)
    const open = calls.filter((c) => run.endedAt === undefined || c.state !== 'done')
    for (const call of open) line(`    ${call.callId}  ${inert(call.name)}: ${text.callStates[call.state]}`)
  }
  return EXIT.ok
}

const reasonOf = ({ cause, turn, model }: Run): string =>
  `${inert(model)}  ${cause === undefined ? `turn ${String(turn)}` : cause.kind === 'error' ? cause.error.code : cause.kind === 'budget' ? `budget: ${cause.budget}` : cause.kind}`

export async function replay(client: Client, id: string, options: { json?: boolean; view?: boolean; speed?: string }): Promise<number> {
  const speed = options.speed === undefined ? Infinity : Number(options.speed)
  if (!(speed > 0)) throw new Failure(EXIT.usage, text.badSpeed(options.speed ?? ''))
  const run = await findRun(client, id)
  const printer = createPrinter(options.json ?? false)
  const { session } = await client.sessions.open({ sessionId: run.sessionId })
  let view = emptyView(session)
  let before: number | undefined
  for await (const event of await client.sessions.replay({ sessionId: run.sessionId, runId: run.id })) {
    if (speed !== Infinity && before !== undefined) await sleep(Math.max(0, event.at - before) / speed)
    before = event.at
    view = fold(view, event)
    if (!options.view) printer.print(event)
  }
  if (options.view) line(JSON.stringify(plainView(view)))
  return EXIT.ok
}

async function findRun(client: Client, id: string): Promise<Run> {
  const lists = await Promise.all([{}, { archived: true }, { binned: true }].map((which) => client.sessions.list(which)))
  for (const session of lists.flat()) {
    const run = oneOf(
      (await client.sessions.runs({ sessionId: session.id })).map((r) => r.run),
      id
    )
    if (run) return run
  }
  throw new Failure(EXIT.missing, text.noRun(id))
}

export interface ContinueOptions extends Pick<AskOptions, 'json' | 'allow'> {
  readonly turns?: string
  readonly calls?: string
  readonly tokens?: string
  readonly cost?: string
  readonly minutes?: string
}

export async function goOn(client: Client, id: string, options: ContinueOptions): Promise<number> {
  const session = await findSession(client, id)
  const { turns, calls, tokens, cost, minutes } = options
  const given = { turns, calls, tokens, cost, minutes }
  const more: Record<string, number> = {}
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined) continue
    const number = Number(value)
    if (!(number > 0)) throw new Failure(EXIT.usage, text.badNumber(key, value))
    if (key === 'minutes') more['wallMs'] = number * 60_000
    else more[key] = number
  }
  return follow(client, session.id, options, async () => {
    await client.run.retry({ sessionId: session.id, ...(Object.keys(more).length > 0 && { more }) })
  })
}

export async function answer(
  client: Client,
  id: string,
  how: string | undefined,
  words: string,
  options: { rule?: string }
): Promise<number> {
  const session = await findSession(client, id)
  const { approvals } = await client.sessions.open({ sessionId: session.id })
  const [first] = approvals
  if (!first) throw new Failure(EXIT.missing, text.noQuestion)
  if (how === undefined) {
    for (const approval of approvals) {
      line(styleText('bold', trust.wants(approval.tool, approval.label)))
      if (approval.again) line(text.again)
      line(describe(approval))
    }
    return EXIT.ok
  }
  const rule = options.rule === undefined ? undefined : ruleOf(options.rule)
  if (options.rule !== undefined && !rule) throw new Failure(EXIT.usage, trust.badRule)
  const given = answerOf(how, words, rule)
  if (!given) throw new Failure(EXIT.usage, `${how}: ${text.answerHow}`)
  return follow(client, session.id, { allow: [], park: true }, async () => {
    await client.run.answer({ sessionId: session.id, approvalId: first.id, answer: given })
    process.stderr.write(
      `${trust.answered(inert(first.tool), trust.answers[given.kind === 'allow' && given.scope !== 'once' ? given.scope : given.kind])}\n`
    )
  })
}

function answerOf(how: string, words: string, rule: Rule | undefined): Answer | undefined {
  switch (how) {
    case 'allow':
    case 'once':
      return { kind: 'allow', scope: 'once' }
    case 'session':
    case 'always':
      return { kind: 'allow', scope: how, ...(rule && { rule }) }
    case 'deny':
      return { kind: 'deny', reason: words }
    case 'reply':
      return words.trim() === '' ? undefined : { kind: 'reply', text: words }
    default:
      return undefined
  }
}
