// One run, from a stored intent to its end: opens the model, drives the loop, records what it says.
import type { UserMessage } from '../../shared/message'
import type { Entry, Run, StopCause } from '../../shared/session'
import type { Tree } from '../../shared/tree'
import { type AnyHook, createHooks } from '../loop/hooks'
import { runLoop } from '../loop/loop'
import { createRegistry } from '../loop/tool'
import { overBudget } from '../policy/budget'
import { buildContext, newestMessages } from './context'
import type { EventLog } from './log'
import { createRecorder } from './recorder'
import type { SessionScope } from './scope'
import { systemPrompt } from './system-prompt'

export interface RunScope {
  readonly scope: SessionScope
  readonly run: Run
  readonly workspace: string
  readonly log: EventLog
  readonly stop: AbortController
  /** Gates of the session, after the budget: the approval. */
  readonly gates: readonly AnyHook[]
  tree(): Tree
  /** An entry was stored and is the head now. */
  readonly added: (entry: Entry) => void
  /** Words of the person that are due (see LoopInput.inbox). */
  readonly takeWords: (turn: number, atEnd: boolean) => UserMessage[]
}

const NO_TOOLS = createRegistry([])

/** Never throws what the loop or a model does; throws only when nothing can be stored any more. */
export async function performRun(from: RunScope): Promise<StopCause> {
  const { scope, run, log, stop, workspace } = from
  const opened = await scope.openModel(run.model)
  if (stop.signal.aborted) return { kind: 'aborted' }
  if (!opened.ok) return { kind: 'error', error: opened.error }
  const { model } = opened
  const registry = model.info.tools ? scope.registry : NO_TOOLS
  const system = systemPrompt(workspace, model.info.tools)
  let broken: unknown
  const failed = (error: unknown): void => {
    broken = error
    stop.abort() // nothing may be shown that is not kept
  }
  const why = 'This model was chosen for the session.'
  log.defer({ draft: { type: 'route', runId: run.id, model: run.model, rule: 'session', why }, within: 'tick', failed })
  const record = createRecorder({
    sessionId: run.sessionId,
    runId: run.id,
    model: run.model,
    store: scope.store,
    log,
    registry,
    now: scope.now,
    head: () => from.tree().head,
    added: from.added,
    failed
  })
  const cause = await runLoop({
    runId: run.id,
    model: run.model,
    stream: model.stream,
    history: newestMessages(from.tree().path, model.contextWindow),
    buildRequest: (messages) => buildContext({ system, messages, tools: registry.specs, window: model.contextWindow }).request,
    workspace,
    registry,
    hooks: createHooks([budgetGate(from), ...from.gates], scope.report),
    queue: scope.queue,
    inbox: { take: from.takeWords },
    signal: stop.signal,
    emit: record
  })
  if (broken === undefined) return cause
  return { kind: 'error', error: { code: 'store_failed', message: `What was said could not be stored: ${reasonOf(broken)}` } }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const budgetGate = ({ scope, run }: RunScope): AnyHook => ({
  point: 'turn.start',
  name: 'budget',
  kind: 'gate',
  run: ({ turn }) => {
    const cause = overBudget(scope.budget, turn, scope.now() - run.startedAt)
    return cause && { kind: 'stop', cause }
  }
})
