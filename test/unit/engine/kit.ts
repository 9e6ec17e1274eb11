// The built engine for tests: real weights, real sockets, a real process. `npm test` builds before it tests.
import { existsSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { createEngine, type Engine, type EngineOptions } from '../../../src/main/app/engine-process'
import { isObject, type Json, parseJson } from '../../../src/shared/json'
import type { Endpoint } from '../../../src/main/models/ollama/http'

const root = join(import.meta.dirname, '../../..')
export const TINY = join(root, 'test/fixtures/tiny')
export const ENTRY = join(root, 'out/main/engine.js')

export function createTestEngine(more: Partial<EngineOptions> = {}): Engine {
  if (!existsSync(ENTRY)) throw new Error(`${ENTRY} is missing: npm run build`)
  return createEngine({ entry: ENTRY, modelsFolder: TINY, ...more })
}

export async function connect(engine: Engine): Promise<Endpoint> {
  const found = await engine.connect()
  if (!found.ok) throw new Error(found.error.message)
  return found.value
}

export interface Answer {
  readonly status: number
  readonly frames: Json[]
  /** Text of all frames. */
  readonly content: string
  readonly last: Json
}

interface Sent {
  readonly done: Promise<Answer>
  destroy(): void
}

/** Sends raw bytes, without Tau's client: what the protocol really is. */
export function send(endpoint: Endpoint, path: string, body?: unknown, headers: Record<string, string> = {}): Sent {
  const asked = request(endpoint.baseUrl + path, {
    method: body === undefined ? 'GET' : 'POST',
    agent: false,
    headers: { Authorization: `Bearer ${endpoint.token ?? ''}`, ...headers }
  })
  const done = new Promise<Answer>((resolve, reject) => {
    asked.on('error', reject)
    asked.on('response', (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (d: string) => (text += d))
      answer.on('error', reject)
      answer.on('end', () => {
        const frames = text.split('\n').map(parseJson).filter(isObject)
        const content = frames.map((f) => (isObject(f['message']) ? String(f['message']['content']) : '')).join('')
        resolve({ status: answer.statusCode ?? 0, frames, content, last: frames.at(-1) ?? {} })
      })
    })
  })
  done.catch(() => undefined)
  asked.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body))
  return {
    done,
    destroy: () => {
      asked.destroy()
    }
  }
}

export const user = (content: string): Json => ({ role: 'user', content })

export const TOOLS = ['list_dir', 'read_file', 'write_file'].map((name) => ({
  type: 'function',
  function: { name, description: `Does ${name}.`, parameters: { type: 'object', properties: { path: { type: 'string' } } } }
}))
