// Keeps what a call may change, around its effect (spec T8): the paths that a file tool names, or the whole workspace for a command.
import type { KeptScope, Keeper } from '../../loop/tool'
import { realPaths } from '../../tools/files/place'
import type { Desk } from '../desk'

export function keeperOf(desk: Desk): Keeper {
  const { id: sessionId, scope, log } = desk
  return {
    async before(call) {
      const paths = await scopeOf(call)
      if (paths === undefined) return undefined
      const { runId, callId, workspace } = call
      const kept = await scope.undo.before({ sessionId, runId, callId, tool: call.tool.name, workspace, scope: paths })
      return {
        after: async () => {
          const made = await kept.after()
          if (made && !desk.active?.left) log.defer({ draft: { type: 'kept', runId, kept: made, undone: [] } })
        }
      }
    }
  }
}

/** Undefined: the call has no effect on files. */
async function scopeOf({ tool, arguments: args, workspace }: KeptScope): Promise<readonly string[] | 'workspace' | undefined> {
  const { writes, command } = tool.touches?.(args) ?? {}
  if (command !== undefined) return 'workspace'
  if (!writes || writes.length === 0) return undefined
  return (await Promise.all(writes.map((path) => realPaths(workspace, path)))).flat()
}
