// What may happen without asking (spec T6, G1). Pure functions over parsed input: no file is opened, no model is asked (design §3.8).
import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { Label } from '../../shared/session'

export interface Question {
  readonly tool: string
  readonly label: Label
  readonly arguments: unknown
  readonly workspace: string
}
export type Decision =
  | { readonly kind: 'allow' }
  | { readonly kind: 'ask' }
  | { readonly kind: 'deny'; readonly code: 'outside_workspace'; readonly reason: string }

/**
 * Reading inside the workspace is free; anything else asks, unless the person allowed the tool for this session. A path that leads out is
 * refused whatever was allowed (links are checked again by the tool itself, at the moment of use).
 */
export function decide(question: Question, permitted: ReadonlySet<string>): Decision {
  const path = pathOf(question.arguments)
  if (path !== undefined && leadsOut(question.workspace, path)) {
    return {
      kind: 'deny',
      code: 'outside_workspace',
      reason: `${path} is outside the workspace ${question.workspace}. Only files inside it can be used. Nothing ran.`
    }
  }
  if (question.label === 'readonly' || permitted.has(question.tool)) return { kind: 'allow' }
  return { kind: 'ask' }
}

const pathOf = (value: unknown): string | undefined =>
  typeof value === 'object' && value !== null && 'path' in value && typeof value.path === 'string' ? value.path : undefined

function leadsOut(workspace: string, path: string): boolean {
  const way = relative(resolve(workspace), resolve(workspace, path))
  return way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)
}
