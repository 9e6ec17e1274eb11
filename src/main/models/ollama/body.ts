// Tau's messages as the body of /api/chat. Every request states its window and its limit: the server's defaults cut silently (spec C3; 4,096
// tokens on machines without a graphics card, the oldest messages dropped without a sign).
import type { ChatRequest as WireRequest, Message as WireMessage, ToolCall as WireCall } from 'ollama'
import { callsOf, type CallPart, type Message, textOf, type ToolMessage, type UserMessage } from '../../../shared/message'
import type { ModelRequest, ToolSpec } from '../model'
import { isObject, type Json, parseJson } from '../../../shared/json'

export interface BodyOptions {
  /** The server's name of the model. */
  readonly model: string
  /** Tokens for request and answer; the same for every request to a model, since a change reloads it. */
  readonly window: number
  /** Whether the model can call tools; if not, calls and results of the history become plain words. */
  readonly tools: boolean
  /** Tokens that an answer may have at most, whatever the request says. */
  readonly maxOutput?: number
  /** Asks the server for frames that tell what it is doing (only Tau's engine knows this). */
  readonly phases?: boolean
}

/** Ollama's own types, and what they leave out. */
export interface ChatBody extends Omit<WireRequest, 'messages' | 'tools'> {
  readonly messages: (WireMessage & { readonly tool_call_id?: string })[]
  readonly tools?: Json[]
  readonly truncate: false
  readonly phases?: true
}

export function buildChatBody(request: ModelRequest, options: BodyOptions): ChatBody {
  const system = request.system === '' ? [] : [{ role: 'system', content: request.system }]
  const tools = options.tools ? request.tools : []
  const limit = Math.min(request.maxOutputTokens, options.window, options.maxOutput ?? Infinity)
  return {
    model: options.model,
    messages: [...system, ...request.messages.map(options.tools ? toolMessage : plainMessage)],
    ...(tools.length > 0 && { tools: tools.map(toTool) }),
    stream: true,
    truncate: false,
    ...(options.phases && { phases: true }),
    // num_predict 0 means "no limit" to the server
    options: { num_ctx: options.window, num_predict: Math.max(1, Math.floor(limit)) }
  }
}

/** A JSON Schema that every version of the server accepts: it refuses whole requests over boolean or list nodes. */
export function simplifySchema(schema: unknown): Json {
  if (!isObject(schema)) return {}
  const { oneOf, const: only, ...rest } = schema
  const simple: Record<string, unknown> = { ...rest }
  if (Array.isArray(oneOf)) simple['anyOf'] = oneOf
  if (only !== undefined) simple['enum'] = [only]
  for (const key of ['items', 'additionalProperties']) {
    if (isObject(simple[key])) simple[key] = simplifySchema(simple[key])
    else if (simple[key] !== undefined && typeof simple[key] !== 'boolean') simple[key] = undefined
  }
  if (typeof simple['items'] === 'boolean') delete simple['items']
  for (const key of ['anyOf', 'allOf']) if (Array.isArray(simple[key])) simple[key] = simple[key].map(simplifySchema)
  if ('properties' in simple) simple['properties'] = mapValues(simple['properties'], simplifySchema)
  if (simple['type'] === 'object' && simple['properties'] === undefined) simple['properties'] = {}
  return simple
}

const toTool = (tool: ToolSpec): Json => ({
  type: 'function',
  function: { name: tool.name, description: tool.description, parameters: simplifySchema({ type: 'object', ...tool.parameters }) }
})

function toolMessage(message: Message): ChatBody['messages'][number] {
  switch (message.role) {
    case 'user':
      return userMessage(message)
    case 'tool':
      // both names: older templates read tool_name, newer ones the id
      return {
        role: 'tool',
        content: message.text,
        tool_name: message.name,
        tool_call_id: message.callId,
        ...(message.images && { images: message.images.map((i) => i.data) })
      }
    case 'assistant': {
      const thinking = message.parts.map((p) => (p.type === 'thinking' ? p.text : '')).join('')
      const calls = callsOf(message).map(toWireCall)
      return {
        role: 'assistant',
        content: textOf(message),
        ...(thinking !== '' && { thinking }),
        ...(calls.length > 0 && { tool_calls: calls })
      }
    }
  }
}

/** For a model that knows no tools: what another model did before is told in words. */
function plainMessage(message: Message): WireMessage {
  if (message.role === 'user') return userMessage(message)
  if (message.role === 'tool') return { role: 'user', content: resultInWords(message) }
  const calls = callsOf(message).map((c) => `(used ${c.name} with ${c.arguments})`)
  return { role: 'assistant', content: [textOf(message), ...calls].filter((t) => t !== '').join('\n') }
}

function userMessage(message: UserMessage): WireMessage {
  const images = message.parts.flatMap((p) => (p.type === 'image' ? [p.data] : []))
  const content = message.parts.flatMap((p) => (p.type === 'text' ? [p.text] : [])).join('\n\n')
  return { role: 'user', content, ...(images.length > 0 && { images }) }
}

const resultInWords = (message: ToolMessage): string => `Result of ${message.name}:\n${message.text}`

const toWireCall = (call: CallPart): WireCall & { readonly id: string } => ({
  id: call.id,
  function: { name: call.name, arguments: argumentsOf(call.arguments) }
})

/** The server takes objects only; text that is no JSON object (the model wrote it so) is kept under a key of its own. */
function argumentsOf(text: string): Json {
  const value = parseJson(text)
  return isObject(value) ? value : { unreadable: text }
}

const mapValues = (value: unknown, change: (v: unknown) => Json): Json =>
  isObject(value) ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, change(v)])) : {}
