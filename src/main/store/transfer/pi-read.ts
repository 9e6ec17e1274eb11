// Lines of a Pi session file as entries of Tau. Version 3 is a tree of entries with ids; 2 and 1 are read as Pi reads them, and never rewritten.
import type { AssistantMessage, AssistantPart, Message, Usage, UserMessage } from '../../../shared/message'
import type { Entry } from '../../../shared/session'
import { isObject, type Json } from '../../../shared/json'

/** An entry without its place: ids of others are still Pi's own. */
export type Content = { [T in Entry['type']]: Omit<Extract<Entry, { type: T }>, 'id' | 'sessionId' | 'parentId' | 'at'> }[Entry['type']]

const str = (value: unknown): string => (typeof value === 'string' ? value : '')
const num = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined)
const strings = (value: unknown): string[] => (Array.isArray(value) ? value.filter((v) => typeof v === 'string') : [])
const blocksOf = (content: unknown): Json[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content.filter(isObject) : []

/** What an entry of a Pi file means to Tau; `imported` for what means nothing to a model. `messageAt` knows the messages before it by Pi's ids. */
export function contentOf(line: Json, messageAt: (id: string) => Message | undefined): Content {
  switch (line['type']) {
    case 'message': {
      const message = isObject(line['message']) ? messageOf(line['message']) : undefined
      return message
        ? { type: 'message', message }
        : { type: 'imported', what: `message ${str(isObject(line['message']) ? line['message']['role'] : '')}`.trim() }
    }
    case 'custom_message':
      return { type: 'message', message: userOf(blocksOf(line['content'])) }
    case 'compaction': {
      const keepsFrom = str(line['firstKeptEntryId'])
      return {
        type: 'compaction',
        summary: str(line['summary']),
        keepsFrom: keepsFrom === '' || keepsFrom === line['id'] ? null : keepsFrom
      }
    }
    case 'branch_summary': {
      const details = isObject(line['details']) ? line['details'] : {}
      const files = { read: strings(details['readFiles']), changed: strings(details['modifiedFiles']) }
      return { type: 'branch_summary', summary: str(line['summary']), from: str(line['fromId']), files, model: '' }
    }
    case 'context_edit': {
      const targetId = str(line['targetId'])
      const { replacement } = line
      return {
        type: 'edit',
        targetId,
        message: isObject(replacement) ? edited(messageAt(targetId), blocksOf(replacement['content'])) : null
      }
    }
    case 'model_change':
      return { type: 'model_change', model: modelOf(line['provider'], line['modelId']) }
    default:
      return { type: 'imported', what: str(line['type']) || 'entry' }
  }
}

function messageOf(message: Json): Message | undefined {
  switch (message['role']) {
    case 'user':
    case 'custom':
    case 'hookMessage': // its name before version 3
      return userOf(blocksOf(message['content']))
    case 'bashExecution':
      // a command that the person kept from the model stays kept from it
      return message['excludeFromContext'] === true ? undefined : userOf([{ type: 'text', text: bashWords(message) }])
    case 'assistant':
      return assistantOf(message)
    case 'toolResult': {
      const details = isObject(message['details']) ? message['details'] : {}
      const code = str(details['code']) || (message['isError'] === true ? 'error' : 'ok')
      return {
        role: 'tool',
        callId: str(message['toolCallId']),
        name: str(message['toolName']),
        code,
        text: resultText(blocksOf(message['content'])),
        durationMs: num(message['durationMs']) ?? 0
      }
    }
    default:
      return undefined
  }
}

const userOf = (blocks: readonly Json[]): UserMessage => ({
  role: 'user',
  parts: blocks.map((b) =>
    b['type'] === 'image' ? { type: 'image', mime: str(b['mimeType']), data: str(b['data']) } : { type: 'text', text: str(b['text']) }
  )
})

const resultText = (blocks: readonly Json[]): string => blocks.map((b) => (b['type'] === 'image' ? '[picture]' : str(b['text']))).join('\n')

/** The target with other content, as Pi puts it together: who spoke stays. */
function edited(target: Message | undefined, blocks: readonly Json[]): Message {
  switch (target?.role) {
    case 'assistant':
      return { ...target, parts: blocks.map(partOf) }
    case 'tool':
      return { ...target, text: resultText(blocks) }
    default:
      return userOf(blocks)
  }
}

/** `ollama` and `qwen3:8b` are `ollama:qwen3:8b`; the provider `tau` stands for a name without one. */
function modelOf(provider: unknown, model: unknown): string {
  const of = str(provider)
  return of === '' || of === 'tau' ? str(model) : `${of}:${str(model)}`
}

/** What Pi tells a model of a command that the person ran. */
function bashWords(message: Json): string {
  const code = typeof message['exitCode'] === 'number' ? message['exitCode'] : 0
  const end = message['cancelled'] === true ? '\n\n(command cancelled)' : code === 0 ? '' : `\n\nCommand exited with code ${String(code)}`
  const output = str(message['output'])
  const full = str(message['fullOutputPath'])
  const cut = message['truncated'] === true && full !== '' ? `\n\n[Output truncated. Full output: ${full}]` : ''
  return `Ran \`${str(message['command'])}\`\n${output === '' ? '(no output)' : `\`\`\`\n${output}\n\`\`\``}${end}${cut}`
}

const STOP: Readonly<Record<string, AssistantMessage['stopReason']>> = {
  stop: 'stop',
  toolUse: 'calls',
  length: 'length',
  aborted: 'aborted',
  error: 'error',
  pending: 'interrupted'
}

function partOf(block: Json): AssistantPart {
  if (block['type'] === 'thinking') return { type: 'thinking', text: str(block['thinking']) }
  if (block['type'] === 'toolCall')
    return { type: 'call', id: str(block['id']) || 'call', name: str(block['name']), arguments: JSON.stringify(block['arguments'] ?? {}) }
  return { type: 'text', text: str(block['text']) }
}

function assistantOf(message: Json): AssistantMessage {
  const parts = blocksOf(message['content']).map(partOf)
  const usage = isObject(message['usage']) ? usageOf(message['usage']) : undefined
  const said = str(message['errorMessage'])
  return {
    role: 'assistant',
    parts,
    model: modelOf(message['provider'], message['model']),
    stopReason: STOP[str(message['stopReason'])] ?? 'stop',
    ...(usage && { usage }),
    ...(said !== '' && { error: { code: message['stopReason'] === 'aborted' ? 'aborted' : 'imported', message: said } })
  }
}

function usageOf(usage: Json): Usage | undefined {
  const input = num(usage['input'])
  const output = num(usage['output'])
  const cost = isObject(usage['cost']) ? num(usage['cost']['total']) : undefined
  if (!input && !output) return undefined
  const whole = (n: number): number => Math.round(n)
  return {
    ...(input !== undefined && { inputTokens: whole(input + (num(usage['cacheRead']) ?? 0)) }),
    ...(output !== undefined && { outputTokens: whole(output) }),
    ...(cost !== undefined && cost > 0 && { cost })
  }
}
