import { expect, it } from 'vitest'
import { chooseDefault, createCatalog } from '../../../src/main/models/catalog'
import type { Provider } from '../../../src/main/models/model'
import type { ModelInfo } from '../../../src/shared/contract'

const info = (id: string, more: Partial<ModelInfo> = {}): ModelInfo => ({
  id,
  name: id,
  source: id.split(':')[0] as ModelInfo['source'],
  tools: true,
  ready: true,
  ...more
})
const provider = (source: ModelInfo['source'], names: string[]): Provider => ({
  source,
  list: () => Promise.resolve(names.map((n) => info(`${source}:${n}`))),
  open: (name) => Promise.resolve({ ok: false, error: { code: 'opened', message: `${source} ${name}` } })
})

it('lists the models of all providers, and opens each at its own', async () => {
  const catalog = createCatalog([provider('ollama', ['a:7b']), provider('engine', ['b'])])
  expect((await catalog.list()).map((m) => m.id)).toEqual(['ollama:a:7b', 'engine:b'])
  expect(await catalog.open('ollama:a:7b')).toMatchObject({ error: { message: 'ollama a:7b' } })
  expect(await catalog.open('nobody:x')).toMatchObject({ ok: false, error: { code: 'model_missing' } })
  expect(await catalog.open(':x')).toMatchObject({ ok: false, error: { code: 'model_missing' } })
  expect(await catalog.open('')).toMatchObject({ ok: false, error: { code: 'no_model' } })
})

it('chooses tools before none, Ollama before the engine, and the starter last; never one that is not ready', () => {
  const starter = info('engine:starter', { tools: false })
  const all = [
    starter,
    info('engine:plain', { tools: false }),
    info('engine:tools'),
    info('ollama:plain', { tools: false }),
    info('ollama:tools')
  ]
  const order: string[] = []
  for (let left = all; left.length > 0;) {
    const next = chooseDefault(left, starter.id)
    order.push(next)
    left = left.filter((m) => m.id !== next)
  }
  expect(order).toEqual(['ollama:tools', 'engine:tools', 'engine:plain', 'ollama:plain', 'engine:starter'])
  expect(chooseDefault([info('engine:x', { ready: false }), info('scripted:x')], '')).toBe('')
})
