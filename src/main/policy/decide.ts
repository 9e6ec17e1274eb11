// The decision about a call: each thing that it does is judged alone, by the rules and by what Tau knows, and the strictest verdict holds (spec G1, G3).
import type { Access, Decision, DecisionPart, Label, Mode, RuleSource, Touched, Verdict } from '../../shared/policy'
import { isInside } from './paths'
import { matches, type Part, type PlacedRule, type RulePlace, ruleText } from './rules'

/** A part with what Tau itself thinks of it. */
export interface JudgedPart extends Part {
  /** Nothing but reading what may be read. */
  readonly reads: boolean
  readonly writes: readonly string[]
  readonly network: boolean
  readonly sends: boolean
  readonly wrapper: boolean
  readonly unsure?: string | undefined
  /** A secret that it would read or write. */
  readonly secret?: string | undefined
  /** It reads outside of the workspace. */
  readonly readsOutside: readonly string[]
}

export interface Situation extends RulePlace {
  readonly mode: Mode
  readonly rules: readonly PlacedRule[]
  readonly readingOutside: 'ask' | 'allow'
  /** Commands run in a sandbox of the system. */
  readonly sandboxed: boolean
  /** The call follows from text that came from beyond the workspace. */
  readonly foreign: boolean
}

interface Judged {
  readonly verdict: Verdict
  readonly code: string
  readonly source: RuleSource
  readonly rule: string
  readonly why: string
}

const STRICT: readonly Verdict[] = ['allow', 'ask', 'deny']

export function decideParts(
  parts: readonly JudgedPart[],
  label: Label,
  situation: Situation
): { decision: Decision; parts: DecisionPart[] } {
  const judged = parts.map((part) => ({ part, ...judge(part, label, situation) }))
  let worst = judged[0]
    ? judged.reduce((a, b) => (STRICT.indexOf(b.verdict) > STRICT.indexOf(a.verdict) ? b : a))
    : { ...NOTHING, part: undefined }
  const leaves = parts.some((p) => p.network || p.writes.some((path) => !isInside(situation.workspace, path)))
  if (worst.verdict === 'allow' && situation.foreign && leaves) worst = { ...worst, ...FOREIGN }
  return {
    decision: {
      verdict: worst.verdict,
      code: worst.code,
      rule: { source: worst.source, text: worst.rule },
      why: worst.why,
      touched: touchedBy(parts),
      access: accessOf(parts, situation)
    },
    parts: judged.map(({ part, verdict, rule, why }) => ({ what: part.what, verdict, rule, why }))
  }
}

const NOTHING: Judged = {
  verdict: 'allow',
  code: 'reads',
  source: 'built-in',
  rule: 'what touches nothing is free',
  why: 'It touches nothing.'
}
const FOREIGN: Judged = {
  verdict: 'ask',
  code: 'foreign',
  source: 'safety',
  rule: 'what follows from foreign text asks before it leaves the workspace',
  why: 'The model has read text from outside, and this would leave the workspace or the machine. Such text may have asked for it.'
}

function judge(part: JudgedPart, label: Label, situation: Situation): Judged {
  const own = ownView(part, label, situation)
  const found = situation.rules.filter(({ rule }) => matches(rule, part, situation))
  const last = found.find(({ rule }) => rule.verdict === 'deny') ?? found.at(-1)
  if (!last) return own
  const { rule, source } = last
  if (rule.verdict === 'allow' && !mayLift(own, rule)) return own
  const why =
    rule.verdict === 'allow' ? 'A rule allows it.' : rule.verdict === 'deny' ? 'A rule forbids it.' : 'A rule wants it to be asked.'
  return { verdict: rule.verdict, code: 'rule', source, rule: ruleText(rule), why: rule.note === undefined ? why : `${why} (${rule.note})` }
}

/** What protects the machine is lifted only by a rule that names the very place. */
function mayLift({ code }: Judged, rule: PlacedRule['rule']): boolean {
  if (code === 'own_data' || code === 'foreign') return false
  if (code === 'secret' || code === 'outside_workspace' || code === 'protected') return rule.path !== undefined
  if (code === 'network_data') return rule.host !== undefined
  if (code === 'wrapper') return rule.command !== undefined
  return true
}

/** What is thought of a part where no rule speaks. */
function ownView(part: JudgedPart, label: Label, situation: Situation): Judged {
  const { mode, workspace } = situation
  const say = (verdict: Verdict, code: string, source: RuleSource, rule: string, why: string): Judged => ({
    verdict,
    code,
    source,
    rule,
    why
  })
  const outside = part.writes.find((path) => !isInside(workspace, path))
  const isCommand = part.words !== undefined || label === 'exec'
  if (part.secret !== undefined)
    return say(
      isCommand || mode === 'read-only' ? 'deny' : 'ask',
      'secret',
      'safety',
      'secrets are not read',
      `${part.secret} holds secrets.`
    )
  if (outside !== undefined)
    return say(
      'deny',
      'outside_workspace',
      'safety',
      'nothing outside the workspace is changed',
      `${outside} is outside the workspace ${workspace}.`
    )
  if (part.sends)
    return say(
      'deny',
      'network_data',
      'safety',
      'no data of this machine is sent',
      `${part.what} would send data of this machine to the network.`
    )
  if (part.readsOutside.length > 0 && situation.readingOutside === 'ask') {
    const [path = ''] = part.readsOutside
    return say('ask', 'reads_outside', 'built-in', 'reading outside the workspace asks', `${path} is outside the workspace ${workspace}.`)
  }
  if (part.reads && part.unsure === undefined) return say('allow', 'reads', 'built-in', 'what only reads is free', 'It only reads.')
  return byMode(part, label, situation)
}

function byMode(part: JudgedPart, label: Label, { mode, workspace, sandboxed }: Situation): Judged {
  const say = (verdict: Verdict, why: string, code = 'mode'): Judged => ({ verdict, code, source: 'mode', rule: `mode ${mode}`, why })
  const unsure = part.unsure === undefined ? '' : ` ${part.unsure}`
  if (mode === 'read-only') return say('deny', `This session may only read.${unsure}`)
  const git = part.writes.find((path) => /\/\.git(\/|$)/.test(path.slice(workspace.length)))
  if (git !== undefined && label === 'write')
    return {
      verdict: 'ask',
      code: 'protected',
      source: 'safety',
      rule: 'git’s own files ask',
      why: `${git} belongs to git, which may run what stands there.`
    }
  if (mode === 'ask') return say('ask', `Everything with an effect asks in this session.${unsure}`, part.wrapper ? 'wrapper' : 'mode')
  if (label === 'write') return say('allow', 'Changes inside the workspace are free in this session.')
  if (mode === 'workspace') return say('ask', `Commands and the network ask in this session.${unsure}`, part.wrapper ? 'wrapper' : 'mode')
  if (part.network) return say('ask', 'The network asks, also in a trusted session.')
  if (part.words?.[0] === 'sudo' || part.words?.[0] === 'doas') return say('ask', 'It would run with the rights of another person.')
  if (!sandboxed) return say('ask', 'There is no sandbox on this system, so commands ask also in a trusted session.')
  return say('allow', 'Commands inside the sandbox are free in this session.')
}

function touchedBy(parts: readonly JudgedPart[]): Touched {
  const unique = (all: string[]): string[] => [...new Set(all)].slice(0, 200)
  return {
    reads: unique(parts.flatMap((p) => p.paths.filter((path) => !p.writes.includes(path)))),
    writes: unique(parts.flatMap((p) => p.writes)),
    commands: unique(parts.flatMap((p) => (p.words && p.words.length > 0 ? [p.words.map((w) => w ?? '…').join(' ')] : []))),
    hosts: unique(parts.flatMap((p) => p.hosts)),
    unsure: parts.some((p) => p.unsure !== undefined)
  }
}

/** What a sandbox has to open when the call is let through. */
const accessOf = (parts: readonly JudgedPart[], { workspace }: Situation): Access => ({
  network: parts.some((p) => p.network),
  reads: [...new Set(parts.flatMap((p) => [...p.readsOutside, ...(p.secret === undefined ? [] : [p.secret])]))],
  writes: [...new Set(parts.flatMap((p) => p.writes.filter((path) => !isInside(workspace, path))))],
  unsandboxed: false
})
