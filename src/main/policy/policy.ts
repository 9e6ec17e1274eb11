// The policy of a running Tau: the file, what Tau knows of shells, paths and secrets, and the decision about each call.
import { realpathSync } from 'node:fs'
import type { Decision, DecisionPart, Grant, Label, Mode, PolicyState, Rule } from '../../shared/policy'
import { decideParts, type JudgedPart, type Situation } from './decide'
import { stateOf, watchFile } from './file'
import { faultOfGrant, grantFor } from './grants'
import { maskSecrets } from './mask'
import { absolutePath, isInside, realPath } from './paths'
import type { PlacedRule } from './rules'
import { secretsOf } from './secrets'
import { analyzeCommand } from './shell/analyze'
import type { ShellParser } from './shell/parser'

/** What is known of a call. Paths as the model wrote them. */
export interface CallFacts {
  readonly tool: string
  readonly label: Label
  readonly touches: {
    readonly reads?: readonly string[]
    readonly writes?: readonly string[]
    readonly command?: string
    readonly urls?: readonly string[]
  }
  readonly workspace: string
  readonly foreign: boolean
}

export interface PolicyConfig {
  /** The policy file. */
  readonly file: string
  readonly parser: ShellParser
  /** Whether commands run in a sandbox of the system. */
  readonly sandboxed: boolean
  /** The person's home folder. */
  readonly home: string
  /** Folders that are Tau's own: nobody's tools touch them. */
  readonly own: readonly string[]
  /** Folders in them that tools may work in all the same. */
  readonly shared: readonly string[]
}

export function createPolicy({ file, parser, sandboxed, home, own, shared }: PolicyConfig) {
  const current = watchFile(file)
  const secrets = secretsOf(
    home,
    own.map((folder) => realPath(folder)),
    shared.map((folder) => realPath(folder))
  )

  function situationOf(call: CallFacts, mode: Mode, grants: readonly Grant[]): Situation {
    const workspace = rootOf(call.workspace)
    const { content, fault } = current()
    const local = content.workspaces?.[call.workspace] ?? content.workspaces?.[workspace]
    const from = (rules: readonly Rule[] | undefined, source: PlacedRule['source']): PlacedRule[] =>
      (rules ?? []).map((rule) => ({ rule, source }))
    const rules = [
      ...from(content.rules, 'file'),
      ...from(local?.rules, 'workspace'),
      ...grants.filter((g) => g.sessionId === undefined).flatMap((g) => from([g.rule], 'grant')),
      ...grants.filter((g) => g.sessionId !== undefined).flatMap((g) => from([g.rule], 'session'))
    ]
    return {
      workspace,
      home,
      mode: fault && mode !== 'read-only' ? 'ask' : mode,
      rules: fault ? rules.filter(({ rule }) => rule.verdict === 'deny') : rules,
      readingOutside: local?.reading_outside ?? content.reading_outside ?? 'ask',
      sandboxed,
      foreign: call.foreign
    }
  }

  function partsOf({ tool, label, touches }: CallFacts, workspace: string): JudgedPart[] {
    const plain = {
      tool,
      label,
      paths: [],
      hosts: [],
      reads: false,
      writes: [],
      network: false,
      sends: false,
      wrapper: false,
      readsOutside: []
    }
    const parts: JudgedPart[] = []
    const outside = (paths: readonly string[]): string[] => paths.filter((path) => !isInside(workspace, path) && !isSystem(path))
    for (const [use, all] of [
      ['read', touches.reads],
      ['write', touches.writes]
    ] as const) {
      for (const path of all ?? []) {
        const real = realPath(absolutePath(path, workspace, home))
        const secret = secrets.has(real) ? real : undefined
        if (use === 'read')
          parts.push({ ...plain, what: path, paths: [real], reads: label === 'readonly', secret, readsOutside: outside([real]) })
        else parts.push({ ...plain, what: path, paths: [real], writes: [real], secret })
      }
    }
    for (const url of touches.urls ?? []) parts.push({ ...plain, what: url, hosts: hostOf(url), network: true })
    if (touches.command !== undefined) parts.push(...commandParts(touches.command, tool, label, workspace, outside))
    if (parts.length === 0) parts.push({ ...plain, what: tool, reads: label === 'readonly', network: label === 'network' })
    return parts
  }

  function commandParts(
    line: string,
    tool: string,
    label: Label,
    workspace: string,
    outside: (paths: readonly string[]) => string[]
  ): JudgedPart[] {
    const facts = analyzeCommand(line, { cwd: workspace, home }, { parse: parser, secrets })
    const parts = facts.effects.map((effect): JudgedPart => {
      const touched = [...effect.reads, ...effect.writes]
      return {
        what: effect.what,
        tool,
        label,
        ...(effect.words.length > 0 && { words: effect.words }),
        paths: touched,
        hosts: effect.hosts,
        reads: effect.kind === 'read',
        writes: effect.writes,
        network: effect.network,
        sends: effect.sends,
        wrapper: effect.wrapper,
        unsure: effect.unsure,
        secret: touched.find((path) => secrets.has(path)),
        readsOutside: effect.kind === 'read' ? outside(effect.reads) : []
      }
    })
    if (facts.unsure !== undefined)
      parts.push({
        what: line,
        tool,
        label,
        paths: [],
        hosts: [],
        reads: false,
        writes: [],
        network: false,
        sends: false,
        wrapper: true,
        unsure: facts.unsure,
        readsOutside: []
      })
    return parts
  }

  function explain(call: CallFacts, mode: Mode, grants: readonly Grant[]): { decision: Decision; parts: DecisionPart[] } {
    const situation = situationOf(call, mode, grants)
    return decideParts(partsOf(call, situation.workspace), call.label, situation)
  }

  return {
    decide: (call: CallFacts, mode: Mode, grants: readonly Grant[]): Decision => explain(call, mode, grants).decision,
    /** With what was decided of each part. */
    explain,
    proposeGrant: (call: CallFacts, decision: Decision): Rule | undefined => {
      const workspace = rootOf(call.workspace)
      return grantFor(call, decision, partsOf(call, workspace), { workspace, home })
    },
    checkGrant: (rule: Rule, call: CallFacts): string | undefined => {
      const workspace = rootOf(call.workspace)
      return faultOfGrant(rule, partsOf(call, workspace), { workspace, home })
    },
    modeFor(workspace: string): Mode {
      const { content } = current()
      return content.workspaces?.[workspace]?.mode ?? content.workspaces?.[rootOf(workspace)]?.mode ?? content.mode ?? 'ask'
    },
    mask: maskSecrets,
    /** Whether a real, absolute path holds secrets. */
    isSecret: (path: string): boolean => secrets.has(path),
    show: (): PolicyState => stateOf(file, current())
  }
}

/** Places that programs read all the time and that hold nothing of a person. */
const isSystem = (path: string): boolean => /^\/(dev|usr|bin|sbin|lib|lib64|opt)(\/|$)/.test(path)

function rootOf(workspace: string): string {
  try {
    return realpathSync(workspace)
  } catch {
    return workspace
  }
}

function hostOf(url: string): string[] {
  try {
    return [new URL(url).hostname.toLowerCase()]
  } catch {
    return []
  }
}
