// The GGUF files of the models folder: the only files that the engine opens. A name is looked up in the list, never made into a path, so no
// request can name a file elsewhere.
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readGgufFileInfo } from 'node-llama-cpp'
import { isObject, numberIn, stringIn } from '../../shared/json'
import { abilitiesOf, type TemplateAbilities } from '../../shared/tool-text'
import { loadFailed, modelMissing } from './refusal'

/** A file of the folder; `name` is the file's name without `.gguf`. */
export interface WeightsFile {
  readonly name: string
  readonly path: string
  readonly size: number
  readonly modifiedAt: Date
}

/** What the file's header says. */
export interface WeightsHeader {
  readonly architecture: string
  readonly contextLength?: number
  readonly template?: string
  readonly abilities: TemplateAbilities
}

export interface Weights {
  list(): Promise<WeightsFile[]>
  /** The file of that name; throws a Refusal when there is none. */
  find(name: string): Promise<WeightsFile>
  /** Header of a file, read once for each version of it; throws a Refusal when it is no GGUF. */
  readHeader(file: WeightsFile): Promise<WeightsHeader>
}

export function createWeights(folder: string): Weights {
  const headers = new Map<string, WeightsHeader>()
  const list = async (): Promise<WeightsFile[]> => {
    const names = (await readdir(folder).catch(() => [])).filter((n) => n.endsWith(EXTENSION)).sort()
    const files = names.map(async (file) => {
      const path = join(folder, file)
      const found = await stat(path).catch(() => undefined)
      return found?.isFile() ? [{ name: file.slice(0, -EXTENSION.length), path, size: found.size, modifiedAt: found.mtime }] : []
    })
    return (await Promise.all(files)).flat()
  }
  return {
    list,
    async find(name) {
      // Ollama's clients may add the tag that stands for "no tag"
      const wanted = name.replace(/:latest$/, '')
      const file = (await list()).find((f) => f.name === wanted)
      if (!file) throw modelMissing(name)
      return file
    },
    async readHeader(file) {
      const key = `${file.path} ${String(file.size)} ${String(file.modifiedAt.getTime())}`
      const known = headers.get(key)
      if (known) return known
      const header = await readHeader(file)
      headers.set(key, header)
      return header
    }
  }
}

const EXTENSION = '.gguf'

async function readHeader(file: WeightsFile): Promise<WeightsHeader> {
  const info = await readGgufFileInfo(file.path, { readTensorInfo: false, logWarnings: false }).catch((cause: unknown) => {
    throw loadFailed(file.name, String(cause))
  })
  const all: unknown = info.metadata
  const metadata = isObject(all) ? all : {}
  const part = (key: string): Readonly<Record<string, unknown>> => (isObject(metadata[key]) ? metadata[key] : {})
  const architecture = stringIn(part('general'), 'architecture') ?? 'unknown'
  const contextLength = numberIn(part(architecture), 'context_length')
  const template = stringIn(part('tokenizer'), 'chat_template')
  return {
    architecture,
    abilities: abilitiesOf(template),
    ...(contextLength !== undefined && { contextLength }),
    ...(template !== undefined && { template })
  }
}
