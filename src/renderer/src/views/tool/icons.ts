import FilePen from '@lucide/svelte/icons/file-pen'
import FileText from '@lucide/svelte/icons/file-text'
import FolderTree from '@lucide/svelte/icons/folder-tree'
import Globe from '@lucide/svelte/icons/globe'
import Search from '@lucide/svelte/icons/search'
import Terminal from '@lucide/svelte/icons/terminal'
import Wrench from '@lucide/svelte/icons/wrench'

const KINDS: readonly (readonly [RegExp, typeof Wrench])[] = [
  [/write|edit|patch|create|save/i, FilePen],
  [/grep|search|find|glob/i, Search],
  [/list|^ls$|dir|tree/i, FolderTree],
  [/read|cat|open|view/i, FileText],
  [/shell|bash|exec|run|command/i, Terminal],
  [/fetch|web|http|browse/i, Globe]
]

/** A picture for a tool, guessed from its name; tools from elsewhere have names nobody knows in advance. */
export const iconOf = (tool: string): typeof Wrench => KINDS.find(([name]) => name.test(tool))?.[1] ?? Wrench
