// `tau policy`, `tau grants`, `tau mode`: the rules, what they would decide, and what was granted.
import { resolve } from 'node:path'
import { Mode, type Rule } from '../../../shared/policy'
import type { Client } from '../../app/owner/visitor'
import { EXIT, Failure } from '../failure'
import { inert } from '../printer'
import { findSession, oneOf } from '../sessions/find'
import { text } from './text'

const line = (words: string): void => void process.stdout.write(`${words}\n`)

export interface PolicyOptions {
  readonly json?: boolean
  readonly mode?: string
  readonly session?: string
  readonly workspace?: string
}

export async function policy(client: Client, [verb, ...words]: string[], options: PolicyOptions): Promise<number> {
  if (verb === 'test' && words.length > 0) return testCommand(client, words.join(' '), options)
  if ((verb !== undefined && verb !== 'path') || words.length > 0) throw new Failure(EXIT.usage, text.badPolicy)
  const state = await client.policy.show()
  if (verb === 'path') line(state.path)
  else if (options.json) line(JSON.stringify(state))
  else {
    line(text.file(state.path, state.exists))
    if (state.fault) line(inert(state.fault.message))
    line(text.modes[state.mode])
    if (state.rules.length === 0) line(text.noRules)
    for (const rule of state.rules) line(ruleLine(rule))
  }
  return state.fault && verb === undefined ? EXIT.failed : EXIT.ok
}

async function testCommand(client: Client, command: string, options: PolicyOptions): Promise<number> {
  const mode = options.mode === undefined ? undefined : modeOf(options.mode)
  const session = options.session === undefined ? undefined : await findSession(client, options.session)
  const workspace = options.workspace ?? (session ? undefined : process.cwd())
  const judged = await client.policy.test({
    call: { command },
    ...(mode && { mode }),
    ...(session && { sessionId: session.id }),
    ...(workspace !== undefined && { workspace: resolve(workspace) })
  })
  const { verdict, rule, why } = judged.decision
  if (options.json) line(JSON.stringify(judged))
  else {
    line(`${text.verdicts[verdict]}: ${inert(why)}`)
    line(text.decides(rule.source, inert(rule.text)))
    if (judged.parts.length > 1)
      for (const part of judged.parts) line(`  ${text.verdicts[part.verdict].padEnd(9)}  ${inert(part.what)}  (${inert(part.rule)})`)
  }
  return verdict === 'allow' ? EXIT.ok : verdict === 'ask' ? EXIT.asks : EXIT.denied
}

export async function grants(client: Client, [verb, id, ...rest]: string[], options: { json?: boolean }): Promise<number> {
  const all = await client.policy.grants()
  if (verb === 'revoke' && id !== undefined && rest.length === 0) {
    const grant = oneOf(all, id)
    if (!grant || !(await client.policy.revoke({ grantId: grant.id })).revoked) throw new Failure(EXIT.missing, text.noGrant(id))
    line(text.revoked(grant.id))
    return EXIT.ok
  }
  if (verb !== undefined) throw new Failure(EXIT.usage, text.badGrants)
  if (options.json) for (const grant of all) line(JSON.stringify(grant))
  else if (all.length === 0) line(text.noGrants)
  else
    for (const { id: grantId, rule, workspace, sessionId } of all)
      line(`${grantId}  ${ruleLine(rule)}  ${inert(workspace)}  ${sessionId ?? text.everySession}`)
  return EXIT.ok
}

export async function mode(client: Client, id: string, given: string | undefined): Promise<number> {
  const session = await findSession(client, id)
  const now = given === undefined ? session : await client.sessions.setMode({ sessionId: session.id, mode: modeOf(given) })
  line(text.modes[now.mode])
  return EXIT.ok
}

function modeOf(given: string): Mode {
  const parsed = Mode.safeParse(given)
  if (!parsed.success) throw new Failure(EXIT.usage, text.badMode(given))
  return parsed.data
}

/** A rule as it stands in the policy file. */
export const ruleLine = (rule: Rule): string => inert(JSON.stringify(rule))
