// Scripts as models: files by their path, and those that come with Tau by name.
import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Provider } from '../model'
import { scriptedModel } from './model'
import { parseScript } from './script'

const MAX_BYTES = 1_000_000

/** `builtIn`: script texts by name (`tour`). Any other name is a path, which the person gave. */
export function scriptedProvider(builtIn: Readonly<Record<string, string>>): Provider {
  return {
    source: 'scripted',
    // scripts are demonstrations and tests: they are chosen by name, not offered beside real models
    list: () => Promise.resolve([]),
    async open(name) {
      const text = builtIn[name] ?? (await readScript(name))
      if (typeof text !== 'string') return { ok: false, error: text }
      const parsed = parseScript(text)
      if (!parsed.ok) return { ok: false, error: { code: parsed.code, message: `${name}: ${parsed.message}` } }
      return { ok: true, model: scriptedModel(`scripted:${name}`, basename(name), parsed.script) }
    }
  }
}

async function readScript(path: string): Promise<string | { code: string; message: string }> {
  try {
    const info = await stat(path)
    if (!info.isFile() || info.size > MAX_BYTES)
      return { code: 'script_error', message: `${path} is not a script file (a text of at most 1 MB).` }
    return await readFile(path, 'utf8')
  } catch {
    return { code: 'model_missing', message: `There is no script ${path}.` }
  }
}
