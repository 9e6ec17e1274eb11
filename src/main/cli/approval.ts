// Who answers what a run asks: the flags, the person at the terminal, or nobody.
import type { Answer, Approval } from '../../shared/session'
import { text } from './text'
import { askPerson } from './trust/question'

export async function answerFor(approval: Approval, allowed: ReadonlySet<string>): Promise<Answer> {
  if (approval.preview.kind !== 'question' && allowed.has(approval.label)) return { kind: 'allow', scope: 'once' }
  if (!process.stdin.isTTY || !process.stderr.isTTY) return { kind: 'deny', reason: text.refused }
  return askPerson(approval)
}
