// The same work as bench/rows/two-tools.ts, done by Pi's agent: one prompt, two tools of 180 and 300 ms, a final text.
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from '@earendil-works/pi-agent-core'
import { createAssistantMessageEventStream } from '@earendil-works/pi-ai'

const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
const model = {
  id: 'scripted',
  name: 'Scripted',
  api: 'scripted',
  provider: 'scripted',
  baseUrl: '',
  reasoning: false,
  input: ['text'],
  contextWindow: 200_000,
  maxTokens: 8_192,
  cost
}

/** A fresh agent with a listener; what is returned sends it one prompt and waits until it is idle. */
export function prepareTwoTools() {
  let turn = 0
  const streamFn = () =>
    ++turn === 1 ? play([call('read_log'), call('load')], 'toolUse') : play([{ type: 'text', text: 'All fine.' }], 'stop')
  const tools = [nap('read_log', 180), nap('load', 300)]
  const agent = new Agent({ initialState: { systemPrompt: 'You are a test.', model, tools }, streamFn })
  let events = 0
  agent.subscribe(() => {
    events++
  })
  return async () => {
    await agent.prompt('Check the service.')
    if (events === 0 || turn !== 2) throw new Error('Pi did something else')
  }
}

function nap(name, ms) {
  return {
    name,
    label: name,
    description: name,
    parameters: { type: 'object', properties: {}, additionalProperties: false },
    execute: async () => {
      await sleep(ms)
      return { content: [{ type: 'text', text: 'done' }], details: {} }
    }
  }
}

let calls = 0
function call(name) {
  return { type: 'toolCall', id: `call-${++calls}`, name, arguments: {} }
}

function message(content, stopReason) {
  const usage = { ...cost, totalTokens: 0, cost: { ...cost, total: 0 } }
  return { role: 'assistant', content, api: model.api, provider: model.provider, model: model.id, usage, stopReason, timestamp: Date.now() }
}

/** Streams the blocks as a provider would. */
function play(blocks, stopReason) {
  const stream = createAssistantMessageEventStream()
  queueMicrotask(() => {
    const partial = message([], 'pending')
    stream.push({ type: 'start', partial })
    for (const [contentIndex, block] of blocks.entries()) {
      partial.content.push(block)
      const kind = block.type === 'text' ? 'text' : 'toolcall'
      const delta = block.type === 'text' ? block.text : JSON.stringify(block.arguments)
      stream.push({ type: `${kind}_start`, contentIndex, partial })
      stream.push({ type: `${kind}_delta`, contentIndex, delta, partial })
      stream.push(
        block.type === 'text'
          ? { type: 'text_end', contentIndex, content: block.text, partial }
          : { type: 'toolcall_end', contentIndex, toolCall: block, partial }
      )
    }
    stream.push({ type: 'done', reason: stopReason, message: message(blocks, stopReason) })
  })
  return stream
}
