// The policy file: one file, for the person to read and to write. It is read again when it has changed; a fault in it never makes anything free.
import { readFileSync, statSync } from 'node:fs'
import { z } from 'zod'
import { Mode, type PolicyState, Rule } from '../../shared/policy'

const Rules = z.array(Rule).max(1_000)
const Workspace = z.strictObject({ mode: Mode.optional(), rules: Rules.optional(), reading_outside: z.enum(['ask', 'allow']).optional() })
const PolicyFile = z.strictObject({
  mode: Mode.optional(),
  rules: Rules.optional(),
  /** Reading outside the workspace: `ask` (default) or `allow`. Secrets stay secrets. */
  reading_outside: z.enum(['ask', 'allow']).optional(),
  /** By absolute path of a workspace; what stands there comes after the rest. */
  workspaces: z.record(z.string(), Workspace).optional()
})
type PolicyFile = z.infer<typeof PolicyFile>

export interface FileState {
  readonly content: PolicyFile
  readonly exists: boolean
  /** It cannot be used as it is: everything with an effect asks, and only what was denied before stays denied. */
  readonly fault?: { code: string; message: string }
}

/** Larger than any policy that a person wrote. */
const MAX_BYTES = 1_000_000

export function watchFile(path: string): () => FileState {
  let stamp = ''
  let state: FileState = { content: {}, exists: false }
  return () => {
    const info = statSync(path, { throwIfNoEntry: false, bigint: true })
    const now = info ? `${String(info.mtimeNs)} ${String(info.ctimeNs)} ${String(info.size)}` : ''
    if (now === stamp) return state
    stamp = now
    state = info ? read(path, Number(info.size), state.content) : { content: {}, exists: false }
    return state
  }
}

function read(path: string, size: number, before: PolicyFile): FileState {
  const fault = (message: string): FileState => ({
    content: denied(before),
    exists: true,
    fault: { code: 'bad_policy', message: `${path} cannot be used: ${message} Until it is mended, everything with an effect asks.` }
  })
  if (size > MAX_BYTES) return fault(`it is larger than ${String(MAX_BYTES)} bytes.`)
  let json: unknown
  try {
    json = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    return fault(`${error instanceof Error ? error.message : String(error)}.`)
  }
  const parsed = PolicyFile.safeParse(json)
  if (parsed.success) return { content: parsed.data, exists: true }
  const [issue] = parsed.error.issues
  return fault(`${issue?.path.join('.') || 'the file'}: ${issue?.message ?? 'is not understood'}.`)
}

/** Of a policy that does not hold any more, what was forbidden. */
function denied({ rules, workspaces }: PolicyFile): PolicyFile {
  const deny = (all: Rule[] | undefined): Rule[] => (all ?? []).filter((rule) => rule.verdict === 'deny')
  return {
    mode: 'ask',
    rules: deny(rules),
    workspaces: Object.fromEntries(
      Object.entries(workspaces ?? {}).map(([folder, w]) => [folder, { mode: 'ask' as const, rules: deny(w.rules) }])
    )
  }
}

export const stateOf = (path: string, { content, exists, fault }: FileState): PolicyState => ({
  path,
  exists,
  mode: content.mode ?? 'ask',
  rules: content.rules ?? [],
  ...(fault && { fault })
})
