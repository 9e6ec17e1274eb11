// The tools that Tau brings. One file a tool; adding one means writing it and naming it here.
import type { Tool } from '../loop/tool'
import { listDirTool } from './list-dir'
import { readFileTool } from './read-file'
import { writeFileTool } from './write-file'

export const builtInTools: readonly Tool[] = [readFileTool, listDirTool, writeFileTool]
