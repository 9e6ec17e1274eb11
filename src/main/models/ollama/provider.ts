// The models of a real Ollama server (spec M2): where it is, what it holds, what each can do.
import type { ModelInfo } from '../../../shared/contract'
import { abilitiesOf } from '../../../shared/tool-text'
import type { Provider } from '../model'
import { PLAIN_NAMES } from '../tool-names'
import { ollamaAddresses } from './address'
import { createChat, sameModel } from './chat'
import { classifyComplaint, createFault } from './errors'
import { askJson, type Endpoint, type Result } from './http'
import { type Json, numberIn, objectIn, objectsIn, stringIn, stringsIn } from '../../../shared/json'

export interface OllamaOptions {
  /** The environment (OLLAMA_HOST). */
  readonly env: NodeJS.ProcessEnv
  /** Tokens that a request and its answer may take; a model trained for less gets less. */
  readonly windowLimit?: number
}

export interface OllamaProvider extends Provider {
  /** Looks where the server is; `url` is the address tried first when none answers. Never throws. */
  probe(): Promise<{ reachable: boolean; url: string }>
}

export function createOllamaProvider({ env, windowLimit = 8_192 }: OllamaOptions): OllamaProvider {
  /** Details by digest: `show` reads the model's file header, which is worth doing once. */
  const details = new Map<string, Details>()
  const signal = new AbortController().signal

  const locate = async (): Promise<Result<Endpoint>> => {
    const addresses = ollamaAddresses(env)
    for (const baseUrl of addresses) {
      const version = await askJson({ baseUrl }, { method: 'GET', path: '/api/version' }, signal, 3_000)
      if (version.ok && stringIn(version.value, 'version') !== undefined) return { ok: true, value: { baseUrl } }
    }
    return {
      ok: false,
      error: createFault('unreachable', `No Ollama answers at ${addresses.join(' or ')}. Start it, or choose another model.`)
    }
  }

  const show = async (endpoint: Endpoint, name: string, digest?: string): Promise<Result<Details>> => {
    const known = digest === undefined ? undefined : details.get(digest)
    if (known) return { ok: true, value: known }
    const shown = await askJson(endpoint, { method: 'POST', path: '/api/show', body: { model: name } }, signal, 10_000, name)
    if (!shown.ok) return shown
    const value = readDetails(shown.value)
    if (digest !== undefined) details.set(digest, value)
    return { ok: true, value }
  }

  const tagsOf = async (endpoint: Endpoint): Promise<Result<Json[]>> => {
    const tags = await askJson(endpoint, { method: 'GET', path: '/api/tags' }, signal, 10_000)
    return tags.ok ? { ok: true, value: objectsIn(tags.value, 'models') } : tags
  }

  return {
    source: 'ollama',

    async probe() {
      const found = await locate()
      return { reachable: found.ok, url: found.ok ? found.value.baseUrl : (ollamaAddresses(env)[0] ?? '') }
    },

    async list() {
      const found = await locate()
      if (!found.ok) return []
      const tags = await tagsOf(found.value)
      if (!tags.ok) return []
      const local = tags.value.filter((tag) => !isRemote(tag))
      const infos: ModelInfo[] = []
      // four at a time: a person may have a hundred models
      for (let i = 0; i < local.length; i += 4) {
        const some = local.slice(i, i + 4).map(async (tag) => {
          const shown = await show(found.value, stringIn(tag, 'name') ?? '', stringIn(tag, 'digest'))
          return shown.ok && !shown.value.chat ? [] : [toInfo(tag, shown)]
        })
        infos.push(...(await Promise.all(some)).flat())
      }
      return infos
    },

    async open(name) {
      const found = await locate()
      if (!found.ok) return found
      const tags = await tagsOf(found.value)
      if (!tags.ok) return tags
      const tag = tags.value.find((t) => sameModel(stringIn(t, 'name') ?? '', name))
      if (!tag) return { ok: false, error: classifyComplaint({ status: 404, text: '' }, name) }
      if (isRemote(tag))
        return { ok: false, error: createFault('capability_missing', `${name} does not run on this machine. Choose another model.`) }
      const shown = await show(found.value, name, stringIn(tag, 'digest'))
      if (!shown.ok) return shown
      const info = toInfo(tag, shown)
      const contextWindow = windowOf(shown.value.contextLength, windowLimit)
      const stream = createChat({
        model: name,
        window: contextWindow,
        tools: info.tools,
        phases: 'watched',
        connect: () => Promise.resolve(found),
        ...(info.size !== undefined && { size: info.size })
      })
      return { ok: true, model: { info, contextWindow, stream, toolNames: PLAIN_NAMES } }
    }
  }
}

/** Tokens to ask for: no more than trained, and a multiple of 256, since the engines round up to it. */
export function windowOf(trained: number | undefined, limit: number): number {
  const most = Math.min(trained ?? limit, limit)
  return most < 256 ? most : most - (most % 256)
}

interface Details {
  readonly chat: boolean
  readonly tools: boolean
  readonly vision: boolean
  readonly contextLength?: number
}

/** Models that run elsewhere are not offered: their requests would leave this machine without a word (design §3.11). */
const isRemote = (tag: Json): boolean => stringIn(tag, 'remote_host') !== undefined

function readDetails(shown: Json): Details {
  const able = stringsIn(shown, 'capabilities')
  const info = objectIn(shown, 'model_info')
  const contextLength = numberIn(info, `${stringIn(info, 'general.architecture') ?? ''}.context_length`)
  return {
    // servers before 0.6 do not say what a model can do: its template does
    chat: able ? able.includes('completion') : true,
    tools: able ? able.includes('tools') : abilitiesOf(stringIn(shown, 'template')?.replaceAll('.Tools', 'tools')).tools,
    vision: able?.includes('vision') ?? false,
    ...(contextLength !== undefined && { contextLength })
  }
}

function toInfo(tag: Json, shown: Result<Details>): ModelInfo {
  const name = stringIn(tag, 'name') ?? ''
  const size = numberIn(tag, 'size')
  const base = { id: `ollama:${name}`, name, source: 'ollama' as const, ...(size !== undefined && { size }) }
  if (!shown.ok) return { ...base, tools: false, ready: false, fault: { code: shown.error.code, message: shown.error.message } }
  const { tools, vision, contextLength } = shown.value
  return { ...base, tools, vision, ready: true, ...(contextLength !== undefined && { contextLength }) }
}
