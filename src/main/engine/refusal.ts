// What the engine refuses, in Ollama's words and with Ollama's status codes: one client reads both servers (docs/models.md).

/** Thrown where a request cannot be served; everything else that is thrown is a fault of the engine (500). */
export class Refusal extends Error {
  readonly status: number
  constructor(status: number, text: string) {
    super(text)
    this.status = status
  }
}

export const modelMissing = (name: string): Refusal => new Refusal(404, `model '${name}' not found`)

export const notSupported = (name: string, ability: 'tools' | 'thinking'): Refusal =>
  new Refusal(400, ability === 'tools' ? `${name} does not support tools` : `"${name}" does not support thinking`)

/** As llama-server says it inside Ollama: JSON text in the error text. */
export function promptTooLong(tokens: number, window: number): Refusal {
  const message = `request (${String(tokens)} tokens) exceeds the available context size (${String(window)} tokens), try increasing it`
  const error = { code: 400, message, type: 'exceed_context_size_error', n_prompt_tokens: tokens, n_ctx: window }
  return new Refusal(400, JSON.stringify({ error }))
}

export const badRequest = (text: string): Refusal => new Refusal(400, text)

export const loadFailed = (name: string, reason: string): Refusal => new Refusal(500, `unable to load model: ${name}: ${reason}`)
