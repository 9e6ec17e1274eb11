// Events of an answer of the Anthropic kind (https://docs.anthropic.com/en/docs/build-with-claude/streaming).
import { isObject, type Json, numberIn, objectIn, stringIn } from '../../../shared/json'
import { classifyAnswer, createFault } from './faults'
import type { AnswerState, OpenCall, ProtocolReader } from './protocol'

export function createAnthropicReader(model: string): ProtocolReader {
  const state: AnswerState = { over: false, usageKnown: false }
  const calls: OpenCall[] = []
  /** Kind of the block that each index stands for now; those that mean nothing to Tau are `other`. */
  const blocks = new Map<number, 'text' | 'thinking' | 'call' | 'other'>()
  /** The number under which a block is handed on: indexes may come twice. */
  const numbers = new Map<number, number>()
  let count = 0
  let reason: string | undefined
  let usage: Json = {}

  const fail = (fault: AnswerState['fault'] & object): Json[] => {
    state.over = true
    state.fault = fault
    return []
  }
  const open = (index: number, block: Json): Json[] => {
    const made = kindOf(block)
    blocks.set(index, made)
    if (made === 'call') {
      const input = block['input']
      const given = isObject(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : ''
      calls.push({ id: stringIn(block, 'id') ?? '', index, name: stringIn(block, 'name') ?? '', arguments: given })
    }
    if (made !== 'text' && made !== 'thinking') return []
    const number = count++
    numbers.set(index, number)
    const start = { type: 'content_block_start', index: number, content_block: { type: made, [made]: '' } }
    const first = stringIn(block, made) ?? ''
    return first === '' ? [start] : [start, deltaEvent(number, made, first)]
  }
  const grow = (index: number, delta: Json): Json[] => {
    const type = stringIn(delta, 'type')
    if (type === 'input_json_delta') {
      const call = calls.findLast((c) => c.index === index)
      if (call) call.arguments += stringIn(delta, 'partial_json') ?? ''
      return []
    }
    const kind = type === 'text_delta' ? 'text' : type === 'thinking_delta' ? 'thinking' : undefined
    if (!kind) return []
    const before = blocks.get(index) === kind ? [] : open(index, { type: kind })
    return [...before, deltaEvent(numbers.get(index) ?? 0, kind, stringIn(delta, kind) ?? '')]
  }
  const readUsage = (told: Json): void => {
    const known = COUNTS.filter((key) => numberIn(told, key) !== undefined)
    if (known.length > 0) state.usageKnown = true
    usage = { ...usage, ...Object.fromEntries(known.map((key) => [key, told[key]])) }
  }
  const finish = (said: boolean): Json[] => {
    if (state.over) return []
    state.over = true
    if (reason === undefined && !said) return []
    if (reason === 'refusal') return fail(createFault('filtered', `The provider of ${model} withheld the answer. Ask in another way.`))
    state.ended = reason === 'max_tokens' || reason === 'model_context_window_exceeded' ? 'length' : 'stop'
    const made = calls.flatMap((call, i): Json[] => {
      const index = count++
      const id = call.id === '' || calls.findIndex((c) => c.id === call.id) < i ? `call_${String(i + 1)}` : call.id
      const input = call.arguments === '' ? '{}' : call.arguments
      return [
        { type: 'content_block_start', index, content_block: { type: 'tool_use', id, name: call.name, input: {} } },
        { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: input } },
        { type: 'content_block_stop', index }
      ]
    })
    return [
      ...made,
      { type: 'message_delta', delta: { stop_reason: reason ?? 'end_turn' }, usage: { output_tokens: 0, ...usage } },
      { type: 'message_stop' }
    ]
  }
  const read = (data: Json, name: string): Json[] => {
    const index = numberIn(data, 'index') ?? 0
    switch (stringIn(data, 'type') ?? name) {
      case 'error':
        return fail(classifyAnswer(data['error'] ?? data, model))
      case 'message_start':
        readUsage(objectIn(objectIn(data, 'message'), 'usage'))
        return []
      case 'content_block_start':
        return open(index, objectIn(data, 'content_block'))
      case 'content_block_delta':
        return grow(index, objectIn(data, 'delta'))
      case 'message_delta':
        readUsage(objectIn(data, 'usage'))
        reason = stringIn(objectIn(data, 'delta'), 'stop_reason') ?? reason
        return []
      case 'message_stop':
        return finish(true)
      case 'message':
        // a server that does not stream sends the message as a whole
        if (!Array.isArray(data['content'])) return []
        readUsage(objectIn(data, 'usage'))
        reason = stringIn(data, 'stop_reason') ?? reason
        return [...data['content'].filter(isObject).flatMap((block, i) => open(i, block)), ...finish(true)]
      default:
        return [] // pings, and what is yet to be invented
    }
  }
  let begun = false
  return {
    state,
    finish,
    push(data, name) {
      const events = read(data, name)
      if (begun) return events
      begun = true
      return [{ type: 'message_start', message: { id: 'answer', role: 'assistant', content: [], usage: { input_tokens: 0 } } }, ...events]
    }
  }
}

const COUNTS = ['input_tokens', 'output_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens']

function kindOf(block: Json): 'text' | 'thinking' | 'call' | 'other' {
  const type = stringIn(block, 'type')
  return type === 'tool_use' ? 'call' : type === 'text' || type === 'thinking' ? type : 'other'
}

const deltaEvent = (index: number, kind: 'text' | 'thinking', text: string): Json => ({
  type: 'content_block_delta',
  index,
  delta: { type: `${kind}_delta`, [kind]: text }
})
