// The tools that Tau brings. One file a tool; adding one means writing it and naming it here.
import type { Tool } from '../loop/tool'
import { askPersonTool } from './ask-person'
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

/** All but the tools for commands, which need a sandbox and a table of jobs (command/). */
export function builtInTools(outputs: Outputs): readonly Tool[] {
  const memory = createFileMemory()
  return [
    readFileTool(memory),
    listDirTool,
    findFilesTool,
    searchTextTool,
    writeFileTool(memory),
    editFileTool(memory),
    moveFileTool(memory),
    deleteFileTool(memory),
    fetchUrlTool(),
    askPersonTool,
    lookupReferenceTool(outputs)
  ]
}
