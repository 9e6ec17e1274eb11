// What stands around the effects of tools: the rules, the sandbox, the jobs, what is kept for undo and of whole outputs; and the tools themselves.
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { AppState } from '../../shared/contract'
import { createRegistry, type Registry } from '../loop/tool'
import { createPolicy } from '../policy/policy'
import { loadShellParser } from '../policy/shell/parser'
import { outputFiles, type OutputFiles } from '../store/outputs'
import type { Store } from '../store/store'
import { builtInTools } from '../tools'
import { createJobs, type Jobs } from '../tools/command/jobs'
import { createSandbox } from '../tools/command/sandbox'
import { createUndo, type Undo } from '../undo/undo'

export interface Effects {
  readonly policy: ReturnType<typeof createPolicy>
  readonly sandbox: AppState['sandbox']
  readonly registry: Registry
  readonly outputs: OutputFiles
  readonly undo: Undo
  readonly jobs: Jobs
}

export interface EffectsConfig {
  readonly home: string
  readonly store: Store
  readonly now: () => number
  /** Path of the grammar of the shell. */
  readonly grammar: string
  readonly failed: (what: string, error: unknown) => void
}

export async function createEffects({ home, store, now, grammar, failed }: EffectsConfig): Promise<Effects> {
  const outputs = outputFiles(join(home, 'outputs'), now)
  const undo = createUndo({
    store,
    folder: join(home, 'kept'),
    now,
    failed: (error) => {
      failed('undo', error)
    }
  })
  const [parser, sandbox] = await Promise.all([loadShellParser(grammar), createSandbox([home])])
  const jobs = createJobs(now)
  const policy = createPolicy({
    file: join(home, 'policy.json'),
    parser,
    sandboxed: sandbox.kind !== 'none',
    home: homedir(),
    own: [home],
    shared: [join(home, 'tour')] // the folder that the tour plays in
  })
  return {
    policy,
    sandbox: { kind: sandbox.kind, ...(sandbox.why !== undefined && { why: sandbox.why }) },
    registry: createRegistry(builtInTools({ outputs, sandbox, jobs, isSecret: (path) => policy.isSecret(path) })),
    outputs,
    undo,
    jobs
  }
}
