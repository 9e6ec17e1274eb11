// Tau's own tools for tests, with the sandbox that this system has.
import type { Tool } from '../../src/main/loop/tool'
import { builtInTools } from '../../src/main/tools'
import { createJobs, type Jobs } from '../../src/main/tools/command/jobs'
import { createSandbox } from '../../src/main/tools/command/sandbox'
import { policyOf } from './policy'
import type { Outputs } from '../../src/main/tools/lookup-reference'

const secrets = policyOf('/nonexistent')
export const sandbox = await createSandbox([])

export const allTools = (outputs: Outputs, jobs: Jobs = createJobs(Date.now)): readonly Tool[] =>
  builtInTools({ outputs, sandbox, jobs, isSecret: (path) => secrets.isSecret(path) })
