// Tau's messages as the provider packages take them.
import type {
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart
} from '@ai-sdk/provider'
import { isObject, parseJson } from '../../../shared/json'
import type { AssistantMessage, ImagePart, Message, ToolMessage, UserMessage } from '../../../shared/message'
import type { ModelRequest } from '../model'

/** `imagesInResults`: whether a tool result may hold images; else they follow the results as words of the user. */
export function buildPrompt(request: ModelRequest, imagesInResults: boolean): LanguageModelV4Prompt {
  const system: LanguageModelV4Message[] = request.system === '' ? [] : [{ role: 'system', content: request.system }]
  return [...system, ...groupResults(request.messages).flatMap((group) => toMessages(group, imagesInResults))]
}

export const buildTools = (request: ModelRequest): LanguageModelV4FunctionTool[] =>
  request.tools.map(({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    inputSchema: { type: 'object', properties: {}, ...parameters }
  }))

/** Results that follow each other are one message: some providers refuse them apart. */
function groupResults(messages: readonly Message[]): (UserMessage | AssistantMessage | ToolMessage[])[] {
  const groups: (UserMessage | AssistantMessage | ToolMessage[])[] = []
  for (const message of messages) {
    const last = groups.at(-1)
    if (message.role !== 'tool') groups.push(message)
    else if (Array.isArray(last)) last.push(message)
    else groups.push([message])
  }
  return groups
}

function toMessages(group: UserMessage | AssistantMessage | ToolMessage[], imagesInResults: boolean): LanguageModelV4Message[] {
  if (Array.isArray(group)) {
    const images = imagesInResults ? [] : group.flatMap((m) => m.images ?? [])
    const results: LanguageModelV4Message = { role: 'tool', content: group.map((m) => resultPart(m, imagesInResults)) }
    if (images.length === 0) return [results]
    return [results, { role: 'user', content: [{ type: 'text', text: 'Images of the results above:' }, ...images.map(filePart)] }]
  }
  if (group.role === 'user') {
    const content = group.parts.filter(saysSomething).map((p) => (p.type === 'image' ? filePart(p) : p))
    return content.length > 0 ? [{ role: 'user', content }] : []
  }
  const content = group.parts.filter(saysSomething).flatMap((p): (LanguageModelV4TextPart | LanguageModelV4ToolCallPart)[] => {
    switch (p.type) {
      case 'text':
        return [p]
      case 'call':
        return [{ type: 'tool-call', toolCallId: p.id, toolName: p.name, input: argumentsOf(p.arguments) }]
      case 'thinking':
        return [] // without the provider's signature it is refused, and providers that sign nothing do not want it back
    }
  })
  return content.length > 0 ? [{ role: 'assistant', content }] : []
}

const saysSomething = (part: { readonly type: string; readonly text?: string }): boolean => part.type !== 'text' || part.text !== ''

function resultPart(message: ToolMessage, withImages: boolean): LanguageModelV4ToolResultPart {
  const { callId, name, code, text, images = [] } = message
  const part = { type: 'tool-result' as const, toolCallId: callId, toolName: name }
  if (withImages && images.length > 0)
    return { ...part, output: { type: 'content', value: [{ type: 'text', text }, ...images.map(filePart)] } }
  return { ...part, output: { type: code === 'ok' ? 'text' : 'error-text', value: text } }
}

const filePart = ({ mime, data }: ImagePart): LanguageModelV4FilePart => ({ type: 'file', mediaType: mime, data: { type: 'data', data } })

/** Providers take objects only; text that is none (the model wrote it so) is kept under a key of its own. */
function argumentsOf(text: string): unknown {
  const value = parseJson(text.trim() === '' ? '{}' : text)
  return isObject(value) ? value : { unreadable: text }
}
