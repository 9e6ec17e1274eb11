// The tools that Tau brings. One file a tool; adding one means writing it and naming it here.
import type { Tool } from '../loop/tool'
import { askPersonTool } from './ask-person'
import type { Jobs } from './command/jobs'
import { jobsTool } from './command/jobs-tool'
import { runCommandTool } from './command/run-command'
import type { Sandbox } from './command/sandbox'
import { deleteFileTool } from './files/delete-file'
import { editFileTool } from './files/edit-file'
import { listDirTool } from './files/list-dir'
import { createFileMemory } from './files/memory'
import { moveFileTool } from './files/move-file'
import { readFileTool } from './files/read-file'
import { writeFileTool } from './files/write-file'
import { lookupReferenceTool, type Outputs } from './lookup-reference'
import { findFilesTool } from './search/find-files'
import { searchTextTool } from './search/search-text'
import { fetchUrlTool } from './web/fetch-url'

export interface ToolNeeds {
  readonly outputs: Outputs
  readonly sandbox: Sandbox
  readonly jobs: Jobs
  /** Whether a real path holds secrets. */
  readonly isSecret: (path: string) => boolean
}

export function builtInTools({ outputs, sandbox, jobs, isSecret }: ToolNeeds): readonly Tool[] {
  const memory = createFileMemory()
  return [
    readFileTool(memory),
    listDirTool,
    findFilesTool,
    searchTextTool(isSecret),
    writeFileTool(memory),
    editFileTool(memory),
    moveFileTool(memory),
    deleteFileTool(memory),
    fetchUrlTool(),
    askPersonTool,
    lookupReferenceTool(outputs),
    runCommandTool(sandbox, jobs),
    jobsTool(jobs)
  ]
}
