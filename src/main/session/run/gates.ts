// What watches every run, as hooks like any other: budget, repetition, audit (spec G2, G4, O1). The approval stands in approvals.ts.
import { hash } from 'node:crypto'
import type { ToolMessage } from '../../../shared/message'
import type { AnyHook, EndedCall } from '../../loop/hooks'
import { type Budget, budgetStop, overBudget } from '../../policy/budget'
import { watchRepetition } from '../../policy/repetition'

/** Ends the run before the turn, and blocks the call, that would go beyond the budget. */
export function budgetGates(budget: Budget, reached: (budget: string, limit: number) => void): AnyHook[] {
  let calls = 0
  return [
    {
      point: 'turn.start',
      name: 'budget',
      kind: 'gate',
      run: ({ spent }) => {
        const cause = overBudget(budget, spent)
        if (cause?.kind === 'budget') reached(cause.budget, cause.limit)
        return cause && { kind: 'stop', cause }
      }
    },
    {
      point: 'tool.start',
      name: 'budget',
      kind: 'gate',
      run: () => {
        if (++calls <= budget.calls) return undefined
        const stop = budgetStop(budget, 'calls')
        reached(stop.budget, stop.limit)
        return {
          kind: 'block',
          code: 'over_budget',
          reason: `This run may make ${String(budget.calls)} calls and has made them. Nothing ran.`,
          stop
        }
      }
    }
  ]
}

/** Tells a model that goes in circles so, once it is plain, and ends the run when it goes on. */
export function repetitionGates(): AnyHook[] {
  const watch = watchRepetition((text) => hash('sha1', text, 'base64'))
  return [
    {
      point: 'tool.end',
      name: 'repetition',
      kind: 'gate',
      run: ({ name, raw, result }): ToolMessage | undefined => {
        if (result.code === 'aborted') return undefined
        const { times, tell } = watch.note({ name, raw, code: result.code, text: result.text })
        return tell ? { ...result, text: `${result.text}\n\n${advice(name, times)}` } : undefined
      }
    },
    {
      point: 'turn.end',
      name: 'repetition',
      kind: 'gate',
      run: () => {
        const found = watch.endTurn()
        return found && { kind: 'stop', cause: { kind: 'repetition', ...found } }
      }
    }
  ]
}

const advice = (name: string, times: number): string =>
  times > 0
    ? `[Tau: this call of ${name} was made ${String(times + 1)} times in this run with this very result. It will not come out otherwise. ` +
      'Do something else, or answer with what you know.]'
    : `[Tau: none of your last calls could be read. Look at the tool's description and send its name and arguments exactly, or answer without tools.]`

/** Keeps secrets out of what a model reads, of what is stored and of what is sent: a file that the person let it read as well. */
export function secretGates(mask: (text: string) => string): AnyHook[] {
  return [
    {
      point: 'tool.end',
      name: 'secrets',
      kind: 'gate',
      run: ({ result }): ToolMessage | undefined => {
        const text = mask(result.text)
        return text === result.text ? undefined : { ...result, text }
      }
    }
  ]
}

/** One record a key point, for the log: names, codes and numbers, nothing that was said. */
export type AuditRecord = Readonly<Record<string, string | number | undefined>> & { readonly event: string }

export function auditHooks(sessionId: string, model: string, audit: (record: AuditRecord) => void): AnyHook[] {
  const base = (runId: string, turn: number): object => ({ session_id: sessionId, run_id: runId, turn, model })
  return [
    {
      point: 'model.end',
      name: 'audit',
      kind: 'observer',
      run: ({ runId, turn, message, ms }) => {
        const { usage, stopReason, error } = message
        audit({
          event: 'model_end',
          ...base(runId, turn),
          stop_reason: stopReason,
          input_tokens: usage?.inputTokens,
          output_tokens: usage?.outputTokens,
          latency_ms: Math.round(ms),
          code: error?.code
        })
        return undefined
      }
    },
    {
      point: 'tool.end',
      name: 'audit',
      kind: 'observer',
      run: (call) => {
        audit({
          event: 'tool_end',
          ...base(call.runId, call.turn),
          tool: call.name,
          code: call.result.code,
          ...blocked(call),
          latency_ms: call.result.durationMs
        })
        return undefined
      }
    }
  ]
}

/** Why a call was refused, where a rule or the person refused it: every block is kept with its reason (spec G4). */
const blocked = ({ ready, result }: EndedCall): { reason?: string } =>
  ready && result.durationMs === 0 && result.code !== 'ok' ? { reason: result.text.slice(0, 300) } : {}
