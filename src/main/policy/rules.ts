// Rules: what they match, and what they are in words (src/shared/policy.ts).
import picomatch from 'picomatch'
import type { Label, Rule, RuleSource } from '../../shared/policy'
import { absolutePath } from './paths'

/** One thing that a call does, as rules see it. */
export interface Part {
  readonly what: string
  readonly tool: string
  readonly label: Label
  /** Words of a simple command; null for one that is not known. Undefined: it is no command. */
  readonly words?: readonly (string | null)[]
  /** Absolute real paths that it touches. */
  readonly paths: readonly string[]
  readonly hosts: readonly string[]
}
/** A rule and where it stands. */
export interface PlacedRule {
  readonly rule: Rule
  readonly source: Extract<RuleSource, 'file' | 'workspace' | 'grant' | 'session'>
}

export interface RulePlace {
  readonly workspace: string
  readonly home: string
}

/** Whether everything that the rule names holds for the part. */
export function matches(rule: Rule, part: Part, place: RulePlace): boolean {
  if (rule.tool !== undefined && !wild(rule.tool)(part.tool)) return false
  if (rule.label !== undefined && rule.label !== part.label) return false
  if (rule.command !== undefined && !(part.words && matchesCommand(rule.command, part.words, rule.verdict))) return false
  if (rule.path !== undefined && !some(part.paths, pathMatcher(rule.path, place), rule)) return false
  return rule.host === undefined || some(part.hosts, hostMatcher(rule.host), rule)
}

/** What is allowed must be so in all of it; to ask or deny, one is enough. */
const some = (all: readonly string[], is: (one: string) => boolean, { verdict }: Rule): boolean =>
  all.length > 0 && (verdict === 'allow' ? all.every(is) : all.some(is))

const wild = (pattern: string): ((text: string) => boolean) => {
  const source = pattern.split('*').map((text) => text.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`))
  const whole = new RegExp(`^${source.join('.*')}$`)
  return (text) => whole.test(text)
}

/** `*` is any one word, `**` at the end any number of them. A word that is not known could be anything: it is no reason to allow. */
function matchesCommand(pattern: string, words: readonly (string | null)[], verdict: Rule['verdict']): boolean {
  const wanted = pattern.trim().split(/\s+/)
  const open = wanted.at(-1) === '**'
  const fixed = open ? wanted.slice(0, -1) : wanted
  if (words.length < fixed.length || (!open && words.length > fixed.length)) return false
  return fixed.every((want, i) => {
    const word = words[i]
    return want === '*' || (word === null ? verdict !== 'allow' : want === word)
  })
}

const matchers = new Map<string, (path: string) => boolean>()
function pathMatcher(pattern: string, { workspace, home }: RulePlace): (path: string) => boolean {
  const glob = absolutePath(pattern, workspace, home)
  const known = matchers.get(glob)
  if (known) return known
  const made = picomatch(glob, { dot: true })
  if (matchers.size > 1_000) matchers.clear()
  matchers.set(glob, made)
  return made
}

const hostMatcher = (pattern: string): ((host: string) => boolean) =>
  pattern.startsWith('*.')
    ? (host) => host.endsWith(pattern.slice(1).toLowerCase()) || host === pattern.slice(2).toLowerCase()
    : (host) => pattern === '*' || host === pattern.toLowerCase()

/** `allow run_command: git push **` */
export function ruleText({ verdict, tool, label, command, path, host }: Rule): string {
  const what = [command, path && `in ${path}`, host && `to ${host}`].filter((t) => t !== undefined)
  const who = tool ?? (label ? `tools that ${LABELS[label]}` : 'anything')
  return `${verdict} ${who}${what.length > 0 ? `: ${what.join(' ')}` : ''}`
}
const LABELS: Readonly<Record<Label, string>> = { readonly: 'read', write: 'write', network: 'use the network', exec: 'run commands' }
