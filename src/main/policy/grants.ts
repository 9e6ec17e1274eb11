// What "always" would store: the narrowest rule that is of use, and why another one is too wide.
import { dirname, relative } from 'node:path'
import type { Decision, Rule } from '../../shared/policy'
import type { JudgedPart } from './decide'
import { isInside } from './paths'
import { matches, type RulePlace } from './rules'
import { SHELLS, WRAPPERS } from './shell/programs'

/** Programs of which a subcommand can be allowed with whatever follows. */
const WITH_SUBCOMMANDS: ReadonlySet<string> = new Set(
  'git npm pnpm yarn bun cargo go make just task gradle mvn dotnet pip uv poetry deno composer bundle rake mix pytest tox vitest jest tsc eslint prettier ruff black mypy cmake ninja'.split(
    ' '
  )
)
/** Programs that run what they are given, remove, or lead elsewhere: they are allowed for one very line at most. */
const NEVER_OPEN: ReadonlySet<string> = new Set(
  'rm rmdir mv dd shred sudo doas su chmod chown curl wget ssh scp rsync nc ncat socat osascript powershell pwsh eval source . kill pkill killall mkfs mount umount systemctl service crontab at docker podman kubectl npx'.split(
    ' '
  )
)

/** They run the script that is named next, or anything with another word there. */
const INTERPRETERS: ReadonlySet<string> = new Set('python python3 node ruby perl php lua tsx ts-node'.split(' '))

/** Undefined: nothing sensible can be granted for such calls. */
export function grantFor(call: { tool: string }, decision: Decision, parts: readonly JudgedPart[], place: RulePlace): Rule | undefined {
  if (['foreign', 'own_data', 'secret', 'network_data'].includes(decision.code)) return undefined
  const [part, ...others] = parts.filter((p) => !p.reads || p.unsure !== undefined)
  if (!part) return readGrant(call.tool, parts, place)
  if (others.length > 0 || part.unsure !== undefined || part.wrapper) return undefined
  if (part.words) return commandGrant(call.tool, part.words)
  const [host] = part.hosts
  if (host !== undefined) return { verdict: 'allow', tool: call.tool, host }
  const [path] = part.writes
  if (path === undefined) return part.label === 'exec' ? undefined : { verdict: 'allow', tool: call.tool }
  const folder = relative(place.workspace, dirname(path))
  if (!isInside(place.workspace, path)) return { verdict: 'allow', tool: call.tool, path }
  return { verdict: 'allow', tool: call.tool, path: folder === '' ? relative(place.workspace, path) : `${folder}/**` }
}

function readGrant(tool: string, parts: readonly JudgedPart[], place: RulePlace): Rule | undefined {
  const path = parts.flatMap((p) => p.readsOutside)[0]
  return path === undefined || isInside(place.workspace, path) ? undefined : { verdict: 'allow', tool, path }
}

function commandGrant(tool: string, words: readonly (string | null)[]): Rule | undefined {
  const known = words.filter((w) => w !== null)
  const [program, sub] = known
  if (program === undefined || known.length < words.length || known.some((w) => /[\s*]/.test(w))) {
    // words with blanks cannot be written as a pattern; the subcommand can stand for them
    if (program === undefined || sub === undefined || !WITH_SUBCOMMANDS.has(program) || !/^[a-z][\w:-]*$/.test(sub)) return undefined
  }
  if (SHELLS.has(program) || WRAPPERS.has(program)) return undefined
  if (NEVER_OPEN.has(program))
    return ['sudo', 'doas', 'su', 'rm', 'dd', 'eval', 'source', '.'].includes(program)
      ? undefined
      : { verdict: 'allow', tool, command: known.join(' ') }
  if (WITH_SUBCOMMANDS.has(program) && sub !== undefined && /^[a-z][\w:-]*$/.test(sub)) {
    const script = known[2]
    const named = sub === 'run' && script !== undefined && /^[\w:.-]+$/.test(script) ? ` ${script}` : ''
    return { verdict: 'allow', tool, command: `${program} ${sub}${named} **` }
  }
  return { verdict: 'allow', tool, command: known.join(' ') }
}

/** Why a rule cannot be granted for a call; undefined: it can. */
export function faultOfGrant(rule: Rule, parts: readonly JudgedPart[], place: RulePlace): string | undefined {
  const { command, path, host, tool } = rule
  if (rule.verdict !== 'allow') return 'A grant can only allow. Rules that ask or deny stand in the policy file.'
  if (command === undefined && path === undefined && host === undefined && tool === undefined)
    return 'The rule names nothing: it would allow everything.'
  if (tool !== undefined && /^\**$/.test(tool)) return 'A rule for every tool cannot be granted here.'
  if (command !== undefined) {
    const [program = '', second] = command.trim().split(/\s+/)
    if (program.includes('*')) return 'The rule must name its program.'
    if (SHELLS.has(program) || WRAPPERS.has(program)) return `${program} starts other programs: allowing it would allow them all.`
    if (INTERPRETERS.has(program) && (second === undefined || /^[-*]/.test(second)))
      return `Name the script that ${program} runs, for example “${program} test.mjs **”.`
    if (NEVER_OPEN.has(program) && /(^|\s)\*/.test(command))
      return `${program} can do anything with other words: only whole lines of it can be granted.`
    if (second === '**' && WITH_SUBCOMMANDS.has(program)) return `Name a subcommand of ${program}, for example “${program} test **”.`
  }
  if (path !== undefined && /^(\/|~\/?)?\*+(\/\*+)*$/.test(path) && path !== '**') return 'The rule would allow every path of the machine.'
  if (host === '*') return 'The rule must name a host.'
  const needed = parts.filter((p) => !p.reads || p.unsure !== undefined || p.readsOutside.length > 0)
  if (needed.some((p) => p.words !== undefined) && command === undefined && path === undefined)
    return 'A rule for commands must name the command.'
  return needed.some((part) => matches(rule, part, place)) ? undefined : 'The rule does not cover this call.'
}
