// One run, from a stored intent to its end: opens the model, drives the loop, records what it says.
import type { UserMessage } from '../../../shared/message'
import type { StopCause } from '../../../shared/session'
import { type AnyHook, createHooks } from '../../loop/hooks'
import { type PendingCalls, runLoop } from '../../loop/loop'
import { createRegistry } from '../../loop/tool'
import { withProviderNames } from '../../models/tool-names'
import type { Budget } from '../../policy/budget'
import { type Context, contextAt, type ContextFrame } from '../context/context'
import { systemPrompt } from '../context/system-prompt'
import { type ActiveRun, added, type Desk, setRunState } from '../desk'
import { auditHooks, budgetGates, repetitionGates, secretGates } from './gates'
import { keeperOf } from './keeper'
import { createRecorder } from './recorder'

export interface RunScope {
  readonly desk: Desk
  readonly active: ActiveRun
  readonly budget: Budget
  /** Calls that come before the first request. */
  readonly pending?: PendingCalls | undefined
  readonly approval: AnyHook
  /** Words of the person that are due (see LoopInput.inbox). */
  readonly takeWords: (turn: number, atEnd: boolean) => readonly UserMessage[] | Promise<readonly UserMessage[]>
}

const NO_TOOLS = createRegistry([])

/** Never throws what the loop or a model does; throws only when nothing can be stored any more. */
export async function performRun(from: RunScope): Promise<StopCause> {
  const { desk, active, pending } = from
  const { scope, log } = desk
  const { run, stop } = active
  const opened = await scope.openModel(run.model)
  if (stop.signal.aborted) return { kind: 'aborted' }
  if (!opened.ok) return { kind: 'error', error: opened.error }
  const { model } = opened
  const { workspace } = desk.info
  const registry = model.info.tools ? scope.registry : NO_TOOLS
  const frame: ContextFrame = {
    system: systemPrompt(workspace, model.info.tools),
    tools: registry.specs,
    window: model.contextWindow,
    vision: model.info.vision ?? false
  }
  const context = contextOf(desk, active.tip, frame)
  setRunState(desk, 'running')
  const why = 'This model was chosen for the session.'
  log.defer({ draft: { type: 'route', runId: run.id, model: run.model, rule: 'session', why } })
  if (context.report().pictureLeftOut) {
    const message = 'A picture was not sent: this model has no vision.'
    log.defer({ draft: { type: 'notice', runId: run.id, level: 'warning', code: 'picture_not_sent', message } })
  }
  let broken: unknown
  const record = createRecorder({
    sessionId: run.sessionId,
    runId: run.id,
    model: run.model,
    store: scope.store,
    log,
    registry,
    signal: stop.signal,
    mask: (text) => scope.policy.mask(text),
    now: scope.now,
    tip: () => active.tip,
    added: (entry) => {
      added(desk, entry, active)
    },
    setState: (state) => {
      setRunState(desk, state)
    }
  })
  const reached = (budget: string, limit: number): void => {
    log.defer({ draft: { type: 'budget', runId: run.id, budget, limit } })
  }
  const cause = await runLoop({
    sessionId: run.sessionId,
    runId: run.id,
    model: run.model,
    stream: model.toolNames ? withProviderNames(model.stream, model.toolNames) : model.stream,
    ...(scope.retry && { retry: scope.retry }),
    context,
    workspace,
    registry,
    hooks: createHooks(
      [
        ...budgetGates(from.budget, reached),
        from.approval,
        ...secretGates((text) => scope.policy.mask(text)),
        ...auditHooks(run.sessionId, run.model, scope.audit),
        ...repetitionGates()
      ],
      scope.report
    ),
    queue: scope.queue,
    outputs: scope.outputs,
    keeper: keeperOf(desk),
    cancelled: (callId) => {
      const stop = new AbortController()
      active.calls.set(callId, stop)
      return stop.signal
    },
    ...(pending && { pending }),
    firstTurn: Math.max(1, run.turn),
    inbox: { take: from.takeWords },
    signal: stop.signal,
    beginTurn: () => {
      active.calls.clear()
      active.turnStop = new AbortController()
      if (active.interrupted || stop.signal.aborted) active.turnStop.abort()
      active.interrupted = false
      return active.turnStop.signal
    },
    emit: (event) => {
      if (active.left) return undefined // this process ends; the run does not
      const failed = (error: unknown): never => {
        broken = error
        throw error
      }
      try {
        return record(event)?.catch(failed)
      } catch (error) {
        return failed(error)
      }
    }
  })
  desk.context = { tip: active.tip, frame, value: context }
  if (broken === undefined) return cause
  const fault = broken instanceof Error ? broken.message : 'for a reason that is not known'
  return { kind: 'error', error: { code: 'store_failed', message: `What was said could not be stored: ${fault}` } }
}

/** The context of the run before when it is at the same place and for the same model, else one that is read from the store. */
function contextOf(desk: Desk, tip: string | null, frame: ContextFrame): Context {
  const kept = desk.context
  desk.context = undefined // while the run goes on, it is the run's
  const same = kept?.frame.system === frame.system && kept.frame.window === frame.window && kept.frame.vision === frame.vision
  if (kept && same && kept.frame.tools === frame.tools && kept.tip === tip) return kept.value
  return contextAt(frame, desk.scope.store.entries.up(desk.id, tip))
}
