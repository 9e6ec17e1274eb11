// Tools of strangers, made from a JSON Schema, and the loop that runs them with a model whose words the test writes.
import { createHooks } from '../../src/main/loop/hooks'
import { type LoopEvent, runLoop } from '../../src/main/loop/loop'
import type { RetryPolicy } from '../../src/main/loop/answer'
import { compileParameters } from '../../src/main/loop/arguments'
import { repetitionGates } from '../../src/main/session/run/gates'
import { createQueue } from '../../src/main/loop/queue'
import { createRegistry, type Tool } from '../../src/main/loop/tool'
import type { StreamFn } from '../../src/main/models/model'
import { callsOf, type AssistantMessage, type Message, type ToolMessage } from '../../src/shared/message'
import type { Label } from '../../src/shared/policy'
import type { StopCause } from '../../src/shared/session'
import type { Json } from '../cases/cases'
import { bareHost } from './loop'

/** `onCall` sees the arguments of each call that ran. */
export function foreignTool(name: string, schema: Json, label: Label, onCall: (args: Json) => void): Tool {
  const compiled = compileParameters(schema)
  if (!compiled.ok) throw new Error(compiled.message)
  return {
    name,
    description: name,
    label,
    replay: 'never',
    parameters: compiled.parameters,
    execute: (args) => {
      onCall(args as Json)
      return Promise.resolve({ code: 'ok', text: 'done' })
    }
  }
}

export interface LoopOutcome {
  readonly cause: StopCause
  readonly events: readonly LoopEvent[]
  readonly results: readonly ToolMessage[]
  readonly answers: readonly AssistantMessage[]
}

const ONE_REQUEST: RetryPolicy = { attempts: 1, baseMs: 1, capMs: 1, longestMs: 1 }

export async function runThroughLoop(
  tools: readonly Tool[],
  stream: StreamFn,
  { retry = ONE_REQUEST, signal = new AbortController().signal, onEvent = () => undefined }: LoopSetting = {}
): Promise<LoopOutcome> {
  const registry = createRegistry(tools)
  const messages: Message[] = [{ role: 'user', parts: [{ type: 'text', text: 'go' }] }]
  const events: LoopEvent[] = []
  const cause = await runLoop({
    ...bareHost,
    runId: 'r',
    model: 'm',
    stream,
    context: {
      add: (message) => void messages.push(message),
      request: () => ({ system: '', messages: [...messages], tools: registry.specs, maxOutputTokens: 1_000 }),
      hasCall: (id) => messages.some((m) => callsOf(m).some((c) => c.id === id)),
      foreign: false
    },
    retry,
    workspace: '/w',
    registry,
    hooks: createHooks(repetitionGates()),
    queue: createQueue(),
    inbox: { take: () => [] },
    signal,
    emit: (event) => {
      events.push(event)
      onEvent(event)
    }
  })
  return {
    cause,
    events,
    results: events.flatMap((e) => (e.type === 'tool_end' ? [e.result] : [])),
    answers: events.flatMap((e) => (e.type === 'message_end' ? [e.message] : []))
  }
}

export interface LoopSetting {
  readonly retry?: RetryPolicy
  readonly signal?: AbortSignal
  readonly onEvent?: (event: LoopEvent) => void
}
