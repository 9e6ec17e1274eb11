// Chat completion chunks as servers of the OpenAI kind send them (https://platform.openai.com/docs/api-reference/chat-streaming).
import { isObject, type Json, numberIn, objectIn, objectsIn, stringIn } from '../../../shared/json'
import { createCallCollector, isWhole } from './calls'
import { classifyAnswer, createFault } from './faults'
import type { AnswerState, ProtocolReader } from './protocol'

export function createOpenAiReader(model: string): ProtocolReader {
  const state: AnswerState = { over: false, usageKnown: false }
  const collector = createCallCollector()
  let reason: string | undefined
  let usage: Json | undefined

  const fail = (fault: AnswerState['fault'] & object): Json[] => {
    state.over = true
    state.fault = fault
    return []
  }
  const readDelta = (delta: Json): Json[] => {
    for (const call of objectsIn(delta, 'tool_calls')) {
      const made = objectIn(call, 'function')
      const id = stringIn(call, 'id')?.trim() ?? ''
      collector.push({ index: numberIn(call, 'index'), id, name: nameIn(made), arguments: argumentsIn(made) })
    }
    const old = delta['function_call'] // the form before there were several calls
    if (isObject(old)) collector.push({ index: 0, id: '', name: nameIn(old), arguments: argumentsIn(old) })
    const thinking = stringIn(delta, 'reasoning_content') ?? stringIn(delta, 'reasoning') ?? ''
    const text = textIn(delta['content']) + (stringIn(delta, 'refusal') ?? '')
    return [...(thinking === '' ? [] : [chunk({ reasoning_content: thinking })]), ...(text === '' ? [] : [chunk({ content: text })])]
  }
  return {
    state,
    push(data, name) {
      const error = data['error'] ?? (name === 'error' || data['object'] === 'error' ? data : undefined)
      if (error !== undefined) return fail(classifyAnswer(error, model))
      const told = data['usage']
      if (isObject(told) && (numberIn(told, 'prompt_tokens') !== undefined || numberIn(told, 'completion_tokens') !== undefined))
        usage = told
      const choice = objectsIn(data, 'choices').find((c) => (numberIn(c, 'index') ?? 0) === 0)
      if (!choice) return []
      reason = stringIn(choice, 'finish_reason') ?? reason
      if (reason === 'error') return fail(classifyAnswer(choice['error'] ?? 'the provider failed', model))
      // a server that does not stream sends the message as a whole
      return readDelta(isObject(choice['delta']) ? choice['delta'] : objectIn(choice, 'message'))
    },
    finish(said) {
      if (state.over) return []
      state.over = true
      const { calls } = collector
      const whole = calls.every((c) => c.arguments.trim() === '' || isWhole(c.arguments))
      if (reason === undefined && !(said && whole)) return []
      if (reason === 'content_filter')
        return fail(createFault('filtered', `The provider of ${model} withheld the answer. Ask in another way.`))
      if (reason !== 'length' && calls.some((c) => c.name === ''))
        return fail(createFault('bad_tool_output', `${model} called a tool without naming it. Try again.`))
      state.ended = reason === 'length' || reason === 'max_tokens' ? 'length' : 'stop'
      state.usageKnown = usage !== undefined
      const made = calls
        .filter((c) => c.name !== '')
        .map((c, index) =>
          chunk({
            tool_calls: [
              {
                index,
                id: c.id === '' ? `call_${String(index + 1)}` : c.id,
                type: 'function',
                function: { name: c.name, arguments: c.arguments }
              }
            ]
          })
        )
      const last = {
        ...chunk({}, state.ended === 'length' ? 'length' : made.length > 0 ? 'tool_calls' : 'stop'),
        ...(usage && { usage: plainUsage(usage) })
      }
      return [...made, last]
    }
  }
}

const chunk = (delta: Json, reason: string | null = null): Json => ({
  id: 'answer',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason: reason }]
})

const nameIn = (made: Json): string => stringIn(made, 'name')?.trim() ?? ''

const argumentsIn = (made: Json): string => {
  const value = made['arguments']
  return typeof value === 'string' ? value : isObject(value) ? JSON.stringify(value) : ''
}

/** Content is text, or a list of parts. */
const textIn = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? content.map((part: unknown) => (isObject(part) && part['type'] === 'text' ? (stringIn(part, 'text') ?? '') : '')).join('')
      : ''

function plainUsage(usage: Json): Json {
  const cached = numberIn(objectIn(usage, 'prompt_tokens_details'), 'cached_tokens') ?? numberIn(usage, 'prompt_cache_hit_tokens')
  return {
    prompt_tokens: numberIn(usage, 'prompt_tokens') ?? null,
    completion_tokens: numberIn(usage, 'completion_tokens') ?? null,
    ...(cached !== undefined && { prompt_tokens_details: { cached_tokens: cached } })
  }
}
