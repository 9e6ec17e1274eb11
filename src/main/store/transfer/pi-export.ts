// A session as a Pi session file of version 3, with its whole tree (spec S2). Lines that came from such a file are written as they were; what Tau
// added follows. Pi takes the last line for the place where the conversation is, so the head stands there.
import { isObject, type Json, parseJson } from '../../../shared/json'
import { type AssistantMessage, type Message, textOf } from '../../../shared/message'
import type { Entry, Session } from '../../../shared/session'
import { firstLine } from '../../../shared/text'
import type { Store } from '../store'

/** Pieces of the file, a line each. */
export function* exportPi(store: Store, session: Session & { readonly head: string | null }): Generator<string> {
  const { id: sessionId, head } = session
  const foreign = new Map<string, string>()
  const byForeign = new Map<string, string>()
  const labels = new Map<string, string>()
  let name = ''
  let last: string | undefined
  let open = ''
  let lines = 0
  for (const { line, entryId, foreignId } of store.imported.all(sessionId)) {
    yield line
    lines++
    open = line.endsWith('\n') ? '' : '\n'
    if (entryId === undefined || foreignId === undefined) continue
    foreign.set(entryId, foreignId)
    byForeign.set(foreignId, entryId)
    last = entryId
    const value = /"(label|session_info)"/.test(line) ? parseJson(line) : undefined
    if (!isObject(value)) continue
    if (value['type'] === 'session_info' && typeof value['name'] === 'string') name = value['name'].trim()
    if (value['type'] === 'label' && typeof value['targetId'] === 'string')
      labels.set(value['targetId'], typeof value['label'] === 'string' ? value['label'] : '')
  }
  const idOf = (id: string): string => foreign.get(id) ?? id
  const write = (value: Json): string => {
    const line = `${open}${JSON.stringify(value)}\n`
    open = ''
    return line
  }
  if (lines === 0) yield write({ type: 'session', version: 3, id: sessionId, timestamp: iso(session.createdAt), cwd: session.workspace })
  for (const entry of store.entries.all(sessionId)) {
    if (foreign.has(entry.id)) continue
    yield write(lineOf(entry, idOf))
    last = entry.id
  }
  const at = iso(session.updatedAt)
  const parentId = head === null ? null : idOf(head)
  const own = store.sessions.labels(sessionId)
  for (const [entryId, label] of Object.entries(own)) {
    if (labels.get(idOf(entryId)) === label) continue
    yield write({ type: 'label', id: `${idOf(entryId)}-label`, parentId: idOf(entryId), timestamp: at, targetId: idOf(entryId), label })
    last = undefined
  }
  for (const target of labels.keys()) {
    const entryId = byForeign.get(target)
    if (entryId === undefined || own[entryId] !== undefined || labels.get(target) === '') continue
    yield write({ type: 'label', id: `${target}-unlabel`, parentId: target, timestamp: at, targetId: target })
    last = undefined
  }
  const given = name !== '' || lines === 0 ? name : firstWords(store, sessionId)
  if (session.title !== '' && session.title !== given) {
    yield write({ type: 'session_info', id: `${sessionId}-name`, parentId, timestamp: at, name: session.title })
    last = head ?? undefined
  }
  if (head !== null && last !== head)
    yield write({ type: 'custom', id: `${sessionId}-head`, parentId, timestamp: at, customType: 'tau.head', data: {} })
}

/** The title that an import takes when the file has none. */
function firstWords(store: Store, sessionId: string): string {
  for (const entry of store.entries.all(sessionId)) {
    const words = entry.type === 'message' && entry.message.role === 'user' ? textOf(entry.message).trim() : ''
    if (words !== '') return firstLine(words, 60)
  }
  return ''
}

const iso = (ms: number): string => new Date(ms).toISOString()

function lineOf(entry: Entry, idOf: (id: string) => string): Json {
  const node = { id: idOf(entry.id), parentId: entry.parentId === null ? null : idOf(entry.parentId), timestamp: iso(entry.at) }
  switch (entry.type) {
    case 'message':
      return { type: 'message', ...node, message: messageOf(entry.message, entry.at) }
    case 'compaction':
      return { type: 'compaction', ...node, summary: entry.summary, firstKeptEntryId: idOf(entry.keepsFrom ?? entry.id), tokensBefore: 0 }
    case 'branch_summary': {
      const details = { readFiles: entry.files.read, modifiedFiles: entry.files.changed }
      return { type: 'branch_summary', ...node, fromId: idOf(entry.from), summary: entry.summary, details }
    }
    case 'edit': {
      const replacement = entry.message ? { content: blocksOf(entry.message) } : null
      return { type: 'context_edit', ...node, targetId: idOf(entry.targetId), replacement }
    }
    case 'model_change':
      return { type: 'model_change', ...node, ...providerOf(entry.model) }
    case 'imported':
      return { type: 'custom', ...node, customType: 'tau.imported', data: { what: entry.what } }
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
