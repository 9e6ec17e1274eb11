// The built-in tools as the pipeline calls them: arguments through the schema first, then preview or effect.
import { readArguments } from '../../src/main/loop/arguments'
import type { PreviewResult, Tool, ToolOutput, ToolRun } from '../../src/main/loop/tool'
import { outputFiles } from '../../src/main/store/outputs'
import { allTools } from './built-in'
import { createJobs, type Jobs } from '../../src/main/tools/command/jobs'
import { freshFolder } from './folders'

export interface ToolBox {
  tool(name: string): Tool
  use(name: string, args: unknown, workspace: string, basis?: string, more?: Partial<ToolRun>): Promise<ToolOutput>
  preview(name: string, args: unknown, workspace: string): Promise<PreviewResult>
  readonly jobs: Jobs
}

/** `extra`: tools beside the built-in ones, or in the place of those of the same name. Each box has a memory of its own. */
export function toolBox(extra: readonly Tool[] = []): ToolBox {
  const outputs = outputFiles(freshFolder('outputs'), Date.now)
  const jobs = createJobs(Date.now)
  const tools = new Map([...allTools(outputs, jobs), ...extra].map((t) => [t.name, t]))
  const toolCalled = (name: string): Tool => {
    const tool = tools.get(name)
    if (!tool) throw new Error(name)
    return tool
  }
  const runOf = (workspace: string, basis: string | undefined, more: Partial<ToolRun>): ToolRun => ({
    sessionId: 's',
    callId: 'c',
    workspace,
    basis,
    signal: new AbortController().signal,
    access: { network: false, reads: [], writes: [], unsandboxed: false },
    outputs,
    progress: () => undefined,
    ...more
  })
  return {
    jobs,
    tool: toolCalled,
    async use(name, args, workspace, basis, more = {}) {
      const read = readArguments(toolCalled(name), JSON.stringify(args))
      if (!read.ok) return { code: read.code, text: read.reason }
      return toolCalled(name).execute(read.value, runOf(workspace, basis, more))
    },
    async preview(name, args, workspace) {
      const made = await toolCalled(name).preview?.(args, runOf(workspace, undefined, {}))
      if (!made) throw new Error(`${name} has no preview`)
      return made
    }
  }
}
