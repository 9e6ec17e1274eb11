// Entries of Tau as lines of a Pi session file of version 3, with every field that Pi needs to open and draw them.
import { isObject, type Json, parseJson } from '../../../shared/json'
import type { AssistantMessage, Message } from '../../../shared/message'
import type { Entry } from '../../../shared/session'
import { patchOf } from './patch'
import { contentOf } from './pi-read'

/** `idOf` gives ids as the file has them; `messageAt` the messages before it, by those ids. */
export function lineOf(entry: Entry, idOf: (id: string) => string, messageAt: (id: string) => Message | undefined): Json {
  const node = { id: idOf(entry.id), parentId: entry.parentId === null ? null : idOf(entry.parentId), timestamp: iso(entry.at) }
  const line = { ...node, ...fieldsOf(entry, idOf) }
  const tau = patchOf(contentOf(line, messageAt), entry)
  return tau ? { ...line, tau } : line
}

/** Times that no date can hold become 1970. */
export const iso = (ms: number): string => new Date(Math.abs(ms) <= 8.64e15 ? ms : 0).toISOString()

function fieldsOf(entry: Entry, idOf: (id: string) => string): Json {
  switch (entry.type) {
    case 'message':
      return { type: 'message', message: messageOf(entry.message, entry.at) }
    case 'compaction':
      // its own id keeps nothing
      return { type: 'compaction', summary: entry.summary, firstKeptEntryId: idOf(entry.keepsFrom ?? entry.id), tokensBefore: 0 }
    case 'branch_summary': {
      const details = { readFiles: entry.files.read, modifiedFiles: entry.files.changed }
      return { type: 'branch_summary', fromId: idOf(entry.from), summary: entry.summary, details }
    }
    case 'edit':
      return {
        type: 'context_edit',
        targetId: idOf(entry.targetId),
        replacement: entry.message ? { content: blocksOf(entry.message) } : null
      }
    case 'model_change':
      return { type: 'model_change', ...providerOf(entry.model) }
    case 'imported':
      return { type: 'custom', customType: 'tau.imported', data: { what: entry.what } }
  }
}

/** `ollama:qwen3:8b` is model `qwen3:8b` of provider `ollama`. */
function providerOf(model: string): { provider: string; modelId: string } {
  const colon = model.indexOf(':')
  return colon === -1 ? { provider: 'tau', modelId: model } : { provider: model.slice(0, colon), modelId: model.slice(colon + 1) }
}

function messageOf(message: Message, at: number): Json {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: blocksOf(message), timestamp: at }
    case 'assistant':
      return assistantOf(message, at)
    case 'tool':
      return {
        role: 'toolResult',
        toolCallId: message.callId,
        toolName: message.name,
        content: blocksOf(message),
        details: { code: message.code },
        isError: message.code !== 'ok',
        durationMs: message.durationMs,
        timestamp: at
      }
  }
}

const STOP: Readonly<Record<AssistantMessage['stopReason'], string>> = {
  stop: 'stop',
  calls: 'toolUse',
  length: 'length',
  aborted: 'aborted',
  interrupted: 'aborted',
  error: 'error'
}

function assistantOf(message: AssistantMessage, at: number): Json {
  const { provider, modelId } = providerOf(message.model)
  const { inputTokens: input = 0, outputTokens: output = 0, cost = 0 } = message.usage ?? {}
  return {
    role: 'assistant',
    content: blocksOf(message),
    api: 'openai-completions',
    provider,
    model: modelId,
    usage: {
      input,
      output,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: input + output,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: cost }
    },
    stopReason: STOP[message.stopReason],
    ...(message.error && { errorMessage: message.error.message }),
    timestamp: at
  }
}

function blocksOf(message: Message): Json[] {
  if (message.role === 'tool') return [{ type: 'text', text: message.text }]
  return message.parts.map((p): Json => {
    switch (p.type) {
      case 'text':
        return { type: 'text', text: p.text }
      case 'thinking':
        return { type: 'thinking', thinking: p.text }
      case 'image':
        return { type: 'image', data: p.data, mimeType: p.mime }
      case 'call':
        return { type: 'toolCall', id: p.id, name: p.name, arguments: argumentsOf(p.arguments) }
    }
  })
}

/** Pi keeps objects; what the model wrote and nobody could read stays under a key of its own. */
function argumentsOf(raw: string): Json {
  const value = raw.trim() === '' ? {} : parseJson(raw)
  return isObject(value) ? value : { unreadable: raw }
}
