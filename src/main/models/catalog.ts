// All models of all providers under one list of ids (`source:name`), and which of them a new session uses when nobody chose.
import type { ModelInfo } from '../../shared/contract'
import type { Fault } from '../../shared/message'
import type { Model, Provider } from './model'

export interface Catalog {
  /** Models of every provider, in the providers' order. Never throws. */
  list(): Promise<ModelInfo[]>
  /** The model of that id, or why it cannot be used. Never throws. */
  open(id: string): Promise<{ ok: true; model: Model } | { ok: false; error: Fault }>
}

export const createCatalog = (providers: readonly Provider[]): Catalog => ({
  async list() {
    return (await Promise.all(providers.map((p) => p.list()))).flat()
  },
  async open(id) {
    const colon = id.indexOf(':')
    const provider = providers.find((p) => colon > 0 && p.source === id.slice(0, colon))
    if (provider) return provider.open(id.slice(colon + 1))
    if (id === '') return { ok: false, error: { code: 'no_model', message: 'No model is chosen. Choose one for this session.' } }
    return { ok: false, error: { code: 'model_missing', message: `There is no model ${id}. Choose another one.` } }
  }
})

/**
 * Id of the model for new sessions; empty when none is ready. A model that can use tools comes before one that cannot, Ollama before the
 * engine, and the starter (too small to be of real use) last. Scripted models are never chosen by themselves.
 */
export function chooseDefault(models: readonly ModelInfo[], starterId: string): string {
  const ready = models.filter((m) => m.ready && m.source !== 'scripted')
  const ranks: ((m: ModelInfo) => boolean)[] = [
    (m) => m.source === 'ollama' && m.tools,
    (m) => m.source === 'engine' && m.tools,
    (m) => m.id !== starterId,
    () => true
  ]
  for (const fits of ranks) {
    const found = ready.find(fits)
    if (found) return found.id
  }
  return ''
}
