// What the rules would decide of a call that nobody makes: `tau policy test`, and the field in the settings.
import { resolve } from 'node:path'
import type { PolicyTest, PolicyVerdict } from '../../shared/contract'
import { readArguments } from '../loop/arguments'
import type { Registry } from '../loop/tool'
import type { Store } from '../store/store'
import type { Effects } from './effects'

/** `workspace`: the folder when none is named. Fails for a session or tool that does not exist, and for arguments that do not fit. */
export function testPolicy(
  { sessionId, workspace, mode, call }: PolicyTest,
  scope: { policy: Effects['policy']; registry: Registry; store: Store; workspace: string }
): { ok: true; value: PolicyVerdict } | { ok: false; message: string } {
  const { policy, registry, store } = scope
  const session = sessionId === undefined ? undefined : store.sessions.find(sessionId)
  if (sessionId !== undefined && !session) return { ok: false, message: `There is no session ${sessionId}.` }
  const name = 'command' in call ? 'run_command' : call.tool
  const tool = registry.find(name)
  if (!tool) return { ok: false, message: `There is no tool ${name}. There are: ${registry.names.join(', ')}.` }
  const args = readArguments(tool, JSON.stringify('command' in call ? { command: call.command } : call.arguments))
  if (!args.ok) return { ok: false, message: args.reason }
  const folder = workspace === undefined ? (session?.workspace ?? scope.workspace) : resolve(workspace)
  const facts = { tool: name, label: tool.label, touches: tool.touches?.(args.value) ?? {}, workspace: folder, foreign: false }
  const grants = store.grants.holding(session?.id ?? '', folder)
  const { decision, parts } = policy.explain(facts, mode ?? session?.mode ?? policy.modeFor(folder), grants)
  return { ok: true, value: { tool: name, label: tool.label, decision, parts: [...parts] } }
}
