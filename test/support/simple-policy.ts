import type { Policy } from '../../src/main/session/scope'
import { isAbsolute, relative, resolve } from 'node:path'
export const simplePolicy: Policy = {
  decide: (call, _mode, grants) => {
    const paths = [...(call.touches.reads ?? []), ...(call.touches.writes ?? [])]
    const out = paths.some((p) => {
      const r = relative(call.workspace, resolve(call.workspace, p))
      return r.startsWith('..') || isAbsolute(r)
    })
    const verdict = out
      ? ('deny' as const)
      : call.label === 'readonly' || grants.some((g) => g.rule.tool === call.tool)
        ? ('allow' as const)
        : ('ask' as const)
    return {
      verdict,
      code: out ? 'outside_workspace' : 'mode',
      rule: { source: 'mode', text: 'x' },
      why: out ? 'It is outside the workspace.' : 'x',
      touched: { reads: [], writes: [], commands: [], hosts: [], unsure: false },
      access: { network: false, reads: [], writes: [], unsandboxed: false }
    }
  },
  proposeGrant: (call) => ({ verdict: 'allow', tool: call.tool }),
  checkGrant: () => undefined,
  modeFor: () => 'ask',
  mask: (t) => t
}
