// The frames of an /api/chat answer as model events. What real servers do, and what is made of it, is recorded in docs/models.md.
import type { Usage } from '../../../shared/message'
import { readToolText, type ToolTextPiece } from '../../../shared/tool-text'
import type { ModelEvent, ModelFault } from '../model'
import { classifyComplaint, complaintText, createFault } from './errors'
import { isObject, type Json, numberIn, objectIn, objectsIn, stringIn } from '../../../shared/json'
import type { Line } from './ndjson'

export interface FrameReader {
  push(line: Line): ModelEvent[]
  /** The connection was closed: an error when the server never said that it is done. */
  end(): ModelEvent[]
}

/** `tools`: whether tools were offered, so that calls written as text are calls too. */
export function createFrameReader(model: string, tools: boolean): FrameReader {
  const text = readToolText({ calls: tools, thinking: false })
  /** Calls that the model wrote as text; they count when the server read none itself. */
  const written: ToolTextPiece[] = []
  let calls = 0
  let shown = false
  let writing = false
  let over = false

  const fail = (error: ModelFault): ModelEvent[] => {
    over = true
    return [{ type: 'error', error }]
  }
  const show = (pieces: readonly ToolTextPiece[]): ModelEvent[] => {
    const events: ModelEvent[] = []
    for (const piece of pieces) {
      if (piece.type === 'text' || piece.type === 'thinking') events.push({ type: piece.type, delta: piece.delta })
      else written.push(piece)
    }
    if (events.length > 0) shown = true
    return events
  }
  const call = (name: string, args: string, id?: string): ModelEvent => {
    calls++
    shown = true
    return { type: 'call', name, arguments: args, ...(id !== undefined && id !== '' && { id }) }
  }
  const readMessage = (message: Json): ModelEvent[] => {
    const thinking = stringIn(message, 'thinking') ?? ''
    const events: ModelEvent[] = thinking === '' ? [] : show([{ type: 'thinking', delta: thinking }])
    events.push(...show(text.push(stringIn(message, 'content') ?? '')))
    for (const c of objectsIn(message, 'tool_calls')) {
      const made = objectIn(c, 'function')
      events.push(call(stringIn(made, 'name') ?? '', argumentsText(made['arguments']), stringIn(c, 'id')))
    }
    if (events.length === 0 || writing) return events
    writing = true
    return [{ type: 'phase', phase: { phase: 'writing' } }, ...events]
  }
  const finish = (frame: Json): ModelEvent[] => {
    const cut = frame['done_reason'] === 'length'
    const events = show(text.end(cut))
    if (calls === 0) {
      const lost = written.find((p) => p.type === 'broken' && (p.reason === 'cut' || p.name === undefined))
      if (lost && !cut) return [...events, ...fail(classifyComplaint({ text: 'error parsing tool call: unreadable' }, model))]
      for (const p of written) {
        if (p.type === 'call') events.push(call(p.name, p.arguments))
        // broken JSON goes to the call pipeline as it is: its reason reaches the model (spec T4)
        else if (p.type === 'broken' && p.reason === 'bad_json') events.push(call(p.name ?? '', p.arguments ?? p.raw))
      }
    }
    const usage = usageOf(frame)
    // several versions drop a call that they cannot read and report success: an empty answer that took tokens was lost, not empty
    if (!shown && !cut && (usage.outputTokens ?? 0) > 1)
      return fail(createFault('bad_tool_output', `${model} answered, but the server could not read it. Try again.`))
    over = true
    return [...events, { type: 'end', stopReason: cut ? 'length' : calls > 0 ? 'calls' : 'stop', usage }]
  }

  return {
    push(line) {
      if (over) return []
      if (!line.ok)
        return fail(createFault('bad_answer', `The server of ${model} sent something that is not its protocol. Check its address.`))
      const frame = line.value
      if (frame['error'] !== undefined) {
        const status = numberIn(frame, 'status')
        return fail(classifyComplaint({ text: complaintText(frame['error']), ...(status !== undefined && { status }) }, model))
      }
      const events = [...readPhase(frame), ...readMessage(objectIn(frame, 'message'))]
      return frame['done'] === true ? [...events, ...finish(frame)] : events
    },
    end() {
      if (over) return []
      const events = show(text.end(true))
      return [...events, ...fail(createFault('incomplete_stream', `The answer of ${model} broke off. Try again.`))]
    }
  }
}

/** Tau's engine tells what it is doing before the first word. */
function readPhase(frame: Json): ModelEvent[] {
  const phase = frame['phase']
  if (phase !== 'queued' && phase !== 'loading' && phase !== 'reading') return []
  const progress = numberIn(frame, 'progress')
  const known = progress !== undefined && progress >= 0 && progress <= 1
  return [{ type: 'phase', phase: { phase, ...(known && { progress }) } }]
}

/** Servers send an object; text (JSON or not) is passed on as it is. */
const argumentsText = (value: unknown): string => (typeof value === 'string' ? value : isObject(value) ? JSON.stringify(value) : '{}')

/** Durations come in nanoseconds; a missing number is unknown. */
function usageOf(frame: Json): Usage {
  const count = (key: string): number | undefined => {
    const n = numberIn(frame, key)
    return n === undefined || n < 0 ? undefined : Math.round(n)
  }
  const ms = (key: string): number | undefined => {
    const n = numberIn(frame, key)
    return n === undefined || n < 0 ? undefined : n / 1e6
  }
  const all = {
    inputTokens: count('prompt_eval_count'),
    outputTokens: count('eval_count'),
    loadMs: ms('load_duration'),
    readMs: ms('prompt_eval_duration'),
    writeMs: ms('eval_duration')
  }
  return Object.fromEntries(Object.entries(all).filter(([, v]) => v !== undefined))
}
