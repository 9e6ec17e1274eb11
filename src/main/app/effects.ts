// TEMP
import { join } from 'node:path'
import type { AppState } from '../../shared/contract'
import type { Decision, DecisionPart, PolicyState } from '../../shared/policy'
import type { Job } from '../../shared/session'
import { createRegistry, type Registry } from '../loop/tool'
import type { CallFacts, Policy } from '../session/scope'
import { outputFiles, type OutputFiles } from '../store/outputs'
import type { Store } from '../store/store'
import { builtInTools } from '../tools'
import { createUndo, type Undo } from '../undo/undo'
import { simplePolicy } from '../../../test/support/simple-policy'

export interface Effects {
  readonly policy: Policy & { show(): PolicyState; explain(call: CallFacts, mode: PolicyState["mode"], grants: Parameters<Policy["decide"]>[2]): { decision: Decision; parts: DecisionPart[] } }
  readonly sandbox: AppState['sandbox']
  readonly registry: Registry
  readonly outputs: OutputFiles
  readonly undo: Undo
  readonly jobs: { list(): Job[]; watch(changed: () => void): () => void; read(id: string, lines: number): { job: Job; text: string } | undefined; stop(id: string): Promise<Job | undefined>; close(): Promise<void> }
}
export async function createEffects({ home, store, now }: { home: string; store: Store; now: () => number }): Promise<Effects> {
  const outputs = outputFiles(join(home, 'outputs'), now)
  await Promise.resolve()
  return {
    policy: { ...simplePolicy, show: () => ({ path: join(home, 'policy.json'), exists: false, mode: 'ask', rules: [] }), explain: (c, m, g) => ({ decision: simplePolicy.decide(c, m, g), parts: [] }) },
    sandbox: { kind: 'none', why: 'x' },
    registry: createRegistry(builtInTools(outputs)),
    outputs,
    undo: createUndo({ store, folder: join(home, 'kept'), now, failed: () => undefined }),
    jobs: { list: () => [], watch: () => () => undefined, read: () => undefined, stop: () => Promise.resolve(undefined), close: () => Promise.resolve() }
  }
}
