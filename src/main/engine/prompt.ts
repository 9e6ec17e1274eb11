// Messages as the text that a model reads: the chat template of its file with the real messages in it, or ChatML where that fails.
import { Template } from '@huggingface/jinja'
import { isObject, type Json } from '../../shared/json'

/** A message as it came over the wire: role, content, perhaps thinking, tool_calls, tool_name, tool_call_id. */
export type WireMessage = Json & { readonly role: string; readonly content: string }

export interface PromptModel {
  /** Chat template of the file, if it has one. */
  readonly template: string | undefined
  readonly bos: string
  readonly eos: string
  /** Texts that the tokenizer would read as control tokens (turn markers and the like). */
  readonly controls: readonly string[]
}

export interface PromptOptions {
  readonly tools: readonly Json[]
  readonly think: boolean | undefined
}

export interface Prompt {
  readonly text: string
  /** Texts that end an answer beside the model's own end token. */
  readonly stops: readonly string[]
  /** Why the model's own template could not be used. */
  readonly fallback?: string
}

/**
 * Stands inside control texts that occur in a message, and is taken out again when the prompt is tokenized. So the words of a file or web
 * page can never become a turn marker (design §3.12). A private-use character: no text has it.
 */
export const FENCE = '\uE0F5'

export function renderPrompt(messages: readonly WireMessage[], model: PromptModel, options: PromptOptions): Prompt {
  const fence = createFence(model.controls)
  const safe = messages.map((m) => forTemplate(fenceDeep(m, fence)))
  const tools = options.tools.map((t) => fenceDeep(t, fence))
  if (model.template === undefined) return chatMl(safe)
  let fallback = ''
  // some templates refuse a system message; the second attempt carries it in the first message of the person
  for (const attempt of [safe, withoutSystem(safe)]) {
    try {
      return { text: render(model.template, attempt, tools, model, options.think), stops: [] }
    } catch (cause) {
      fallback = String(cause)
    }
  }
  return { ...chatMl(safe), fallback }
}

const templates = new Map<string, Template>()

function render(source: string, messages: readonly Json[], tools: readonly Json[], model: PromptModel, think: boolean | undefined): string {
  let template = templates.get(source)
  if (!template) {
    template = new Template(source)
    templates.set(source, template)
  }
  return template.render({
    messages,
    add_generation_prompt: true,
    bos_token: model.bos,
    eos_token: model.eos,
    ...(tools.length > 0 && { tools }),
    ...(think !== undefined && { enable_thinking: think })
  })
}

/** Templates know thinking as `reasoning_content`, and a tool's result by `name`. */
function forTemplate(message: Json): Json {
  const { thinking, tool_name, ...rest } = message
  return {
    ...rest,
    ...(thinking !== undefined && { reasoning_content: thinking, thinking }),
    ...(tool_name !== undefined && { name: tool_name })
  }
}

function withoutSystem(messages: readonly Json[]): Json[] {
  const [first, second, ...rest] = messages
  if (first?.['role'] !== 'system' || !second) return [...messages]
  return [{ ...second, content: `${String(first['content'])}\n\n${String(second['content'])}` }, ...rest]
}

function chatMl(messages: readonly Json[]): Prompt {
  const turns = messages.map((m) => `<|im_start|>${String(m['role'])}\n${String(m['content'])}<|im_end|>\n`)
  return { text: `${turns.join('')}<|im_start|>assistant\n`, stops: ['<|im_end|>', '<|im_start|>'] }
}

type Fence = (text: string) => string

function createFence(controls: readonly string[]): Fence {
  const long = controls.filter((c) => c.length > 2).sort((a, b) => b.length - a.length)
  const clean: Fence = (text) => text.replaceAll(FENCE, '')
  if (long.length === 0) return clean
  const any = new RegExp(long.map((c) => c.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')).join('|'), 'g')
  return (text) => clean(text).replace(any, (found) => found.slice(0, 1) + FENCE + found.slice(1))
}

function fenceDeep(value: Json, fence: Fence): Json {
  const each = (v: unknown): unknown => {
    if (typeof v === 'string') return fence(v)
    if (Array.isArray(v)) return v.map(each)
    return isObject(v) ? Object.fromEntries(Object.entries(v).map(([k, x]) => [fence(k), each(x)])) : v
  }
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, each(v)]))
}
