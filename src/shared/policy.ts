// What may happen, and why: the words in which rules, decisions and grants are written down, shown and stored (spec T6, G1, G3).
import { z } from 'zod'
import { Fault } from './message'

/** What a tool may do to the world (spec T6). */
export const Label = z.enum(['readonly', 'write', 'network', 'exec'])

/**
 * How much a session may do by itself. `read-only`: nothing with an effect. `ask`: every effect asks (default). `workspace`: edits inside the
 * workspace are free, commands and everything else ask. `trusted`: commands inside the sandbox are free as well.
 */
export const Mode = z.enum(['read-only', 'ask', 'workspace', 'trusted'])

export const Verdict = z.enum(['allow', 'ask', 'deny'])

/**
 * One rule. It matches when everything it names matches; what it does not name matches anything. Among all rules the last match wins, and a
 * matching `deny` beats every other.
 */
export const Rule = z.strictObject({
  verdict: Verdict,
  /** Tool name; `*` stands for any characters. */
  tool: z.string().min(1).max(200).optional(),
  label: Label.optional(),
  /** Glob over real paths: relative to the workspace, absolute, or from `~/`. Matches when any path that the call touches does (`allow`: when all do). */
  path: z.string().min(1).max(4_000).optional(),
  /** Words of a simple command; `*` stands for one word, `**` at the end for any further words: `git push **`. */
  command: z.string().min(1).max(4_000).optional(),
  /** Host of a URL; `*.example.org` for its subdomains. */
  host: z.string().min(1).max(300).optional(),
  /** What the rule is for, shown to the person. */
  note: z.string().max(300).optional()
})

/** What a call would touch, as far as it can be known before it runs. Paths are absolute, links followed. */
export const Touched = z.object({
  reads: z.array(z.string()),
  writes: z.array(z.string()),
  /** Simple commands that would run, as words joined by blanks. */
  commands: z.array(z.string()),
  hosts: z.array(z.string()),
  /** Whether there may be more that cannot be known beforehand (an unlisted program, a variable …). */
  unsure: z.boolean()
})

/** What a call is given beyond the workspace when it runs. */
export const Access = z.object({
  /** Whether it may reach the network. */
  network: z.boolean(),
  /** Real paths outside the workspace that it may read. */
  reads: z.array(z.string()),
  /** Real paths outside the workspace that it may write. */
  writes: z.array(z.string()),
  /** Whether it runs outside the sandbox of the system. */
  unsandboxed: z.boolean()
})

/** Where the rule stands that decided. `safety`: one that no rule of the person can lift. */
export const RuleSource = z.enum(['built-in', 'mode', 'file', 'workspace', 'grant', 'session', 'safety'])

export const Decision = z.object({
  verdict: Verdict,
  /** For programs and texts: `mode.ask`, `secret`, `outside_workspace`, `network_data`, `foreign`, `rule` … */
  code: z.string(),
  /** The rule in words, or as it is written. */
  rule: z.object({ source: RuleSource, text: z.string() }),
  /** One sentence in English for a person and a model: what decided, and what can be done. */
  why: z.string(),
  touched: Touched,
  access: Access
})

/** One simple command of a line, or one path or address of a call, with what was decided for it alone. */
export const DecisionPart = z.object({ what: z.string(), verdict: Verdict, rule: z.string(), why: z.string() })

/** The policy file as it is now; `fault`: it cannot be used, so every effect asks. */
export const PolicyState = z.object({
  path: z.string(),
  exists: z.boolean(),
  mode: Mode,
  rules: z.array(Rule),
  fault: Fault.optional()
})

/** A rule that the person granted while answering; `sessionId` missing: for every session in that workspace. */
export const Grant = z.object({
  id: z.string(),
  workspace: z.string(),
  sessionId: z.string().optional(),
  rule: Rule,
  grantedAt: z.number().int()
})

export type Label = z.infer<typeof Label>
export type Mode = z.infer<typeof Mode>
export type Verdict = z.infer<typeof Verdict>
export type Rule = z.infer<typeof Rule>
export type RuleSource = z.infer<typeof RuleSource>
export type Touched = z.infer<typeof Touched>
export type Access = z.infer<typeof Access>
export type Decision = z.infer<typeof Decision>
export type DecisionPart = z.infer<typeof DecisionPart>
export type PolicyState = z.infer<typeof PolicyState>
export type Grant = z.infer<typeof Grant>
