// Pi with a provider that plays a script: what its rows share. No network, no keys, no files outside the system's temporary folder.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent } from '@earendil-works/pi-agent-core'
import { createAssistantMessageEventStream } from '@earendil-works/pi-ai'

const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
export const model = {
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

let calls = 0
export const call = (name, args = {}) => ({ type: 'toolCall', id: `call-${++calls}`, name, arguments: args })
export const text = (words) => ({ type: 'text', text: words })
export const result = (words) => ({ content: [text(words)], details: {} })

export function message(content, stopReason) {
  const usage = { ...cost, totalTokens: 0, cost: { ...cost, total: 0 } }
  return { role: 'assistant', content, api: model.api, provider: model.provider, model: model.id, usage, stopReason, timestamp: Date.now() }
}

export const tool = (name, execute, properties = {}, required = []) => ({
  name,
  label: name,
  description: name,
  parameters: { type: 'object', properties, required, additionalProperties: false },
  execute
})

/** A stream function: `script(n, context)` gives the blocks of answer `n` (from 1). */
export function scripted(script) {
  let n = 0
  return (_model, context, options) => {
    const stream = createAssistantMessageEventStream()
    void play(stream, script, ++n, context, options?.signal)
    return stream
  }
}

async function play(stream, script, n, context, signal) {
  const blocks = await script(n, context, stream)
  if (blocks === undefined) return // the script has filled the stream itself
  const partial = message([], 'pending')
  stream.push({ type: 'start', partial })
  if (signal?.aborted) {
    stream.push({ type: 'error', reason: 'aborted', error: { ...partial, stopReason: 'aborted', errorMessage: 'aborted' } })
    return
  }
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
  const reason = blocks.some((b) => b.type === 'toolCall') ? 'toolUse' : 'stop'
  stream.push({ type: 'done', reason, message: message(blocks, reason) })
}

const folders = []
process.once('exit', () => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))
/** A fresh folder for a session. It goes when this process ends: Pi may still write into it for a while after a session was disposed. */
export function freshFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'pi-bench-'))
  folders.push(folder)
  return folder
}

export const agentWith = (tools, streamFn) => new Agent({ initialState: { systemPrompt: 'You are a test.', model, tools }, streamFn })
