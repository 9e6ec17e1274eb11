// `tau undo`: what would be brought back, file by file, and bringing it back.
import { createInterface } from 'node:readline/promises'
import type { KeptCall, UndoPlan, UndoTarget, UndoUsage } from '../../../shared/undo'
import type { Client } from '../../app/owner/visitor'
import { EXIT, Failure } from '../failure'
import { inert } from '../printer'
import { findEntry, findSession, oneOf } from '../sessions/find'
import { coloured } from './question'
import { text } from './text'

const line = (words: string): void => void process.stdout.write(`${words}\n`)

export interface UndoOptions {
  readonly call?: string
  readonly run?: string
  readonly to?: string
  readonly yes?: boolean
  readonly list?: boolean
  readonly usage?: boolean
  readonly clear?: boolean
  readonly json?: boolean
}

export async function undo(client: Client, id: string | undefined, options: UndoOptions): Promise<number> {
  if (options.usage || options.clear) return usage(await (options.clear ? client.undo.clear() : client.undo.usage()), options)
  if (id === undefined) throw new Failure(EXIT.usage, text.undo)
  const { id: sessionId } = await findSession(client, id)
  const kept = await client.undo.list({ sessionId })
  if (options.list) return list(kept, options)
  const target = await targetOf(client, sessionId, kept, options)
  if (!target) throw new Failure(EXIT.missing, text.nothingKept)
  const plan = await client.undo.plan({ sessionId, target })
  if (!options.json) show(plan)
  if (!plan.steps.some((s) => s.state === 'restore')) {
    if (options.json) line(JSON.stringify(plan))
    return EXIT.ok
  }
  if (options.yes !== true && !(await agreed())) return EXIT.ok
  const { steps } = await client.undo.apply({ sessionId, token: plan.token })
  if (options.json) for (const step of steps) line(JSON.stringify(step))
  else line(text.restored(steps.filter((s) => s.state === 'restore').length, steps.length))
  return steps.some((s) => s.state === 'changed_since' || s.state === 'not_kept') ? EXIT.failed : EXIT.ok
}

async function targetOf(
  client: Client,
  sessionId: string,
  kept: readonly KeptCall[],
  options: UndoOptions
): Promise<UndoTarget | undefined> {
  if (options.call !== undefined) {
    const call = oneOf(kept, options.call)
    return call && { kind: 'call', id: call.id }
  }
  if (options.to !== undefined) return { kind: 'entry', entryId: (await findEntry(client, sessionId, options.to)).id }
  const open = kept.filter((k) => !k.isUndo && k.undoneBy === undefined)
  const runs = [...new Set(open.map((k) => k.runId))].map((runId) => ({ id: runId }))
  const run = options.run === undefined ? runs[0] : oneOf(runs, options.run)
  return run && { kind: 'run', runId: run.id }
}

function show({ steps, calls }: UndoPlan): void {
  for (const step of steps) {
    line(`${inert(step.path)}: ${text.steps[step.state]}  +${String(step.added)} −${String(step.removed)}`)
    if (step.state === 'restore' && step.diff !== undefined) line(coloured(step.diff))
  }
  for (const limit of new Set(calls.flatMap((c) => c.limits))) line(inert(limit))
}

function list(kept: readonly KeptCall[], options: UndoOptions): number {
  if (options.json) for (const call of kept) line(JSON.stringify(call))
  else if (kept.length === 0) line(text.nothingKept)
  else
    for (const { id, at, tool, changes, undoneBy } of kept)
      line(
        `${id}  ${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}  ${inert(tool)}  ${changes
          .map((c) => inert(c.path))
          .join(', ')
          .slice(0, 200)}${undoneBy === undefined ? '' : `  [${text.undone}]`}`
      )
  return EXIT.ok
}

function usage(used: UndoUsage, options: UndoOptions): number {
  const mb = (bytes: number): string => (bytes / 1_000_000).toFixed(1)
  if (options.json) line(JSON.stringify(used))
  else line(text.usage(mb(used.bytes), used.calls, mb(used.limitBytes), Math.round(used.limitAgeMs / 86_400_000)))
  return EXIT.ok
}

async function agreed(): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new Failure(EXIT.usage, text.needsYes)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await terminal.question(text.bringBack)).trim().toLowerCase() === 'y'
  } finally {
    terminal.close()
  }
}
