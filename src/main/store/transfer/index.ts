// Sessions as files: in from Pi's JSONL and Tau's JSON, out to both and to Markdown, each with the whole tree (spec S2).
import { isObject, parseJson } from '../../../shared/json'
import type { Store } from '../store'
import type { Imported, ImportOptions, NotASession } from './imported'
import { exportJson, importJson } from './json'
import { exportMarkdown } from './markdown'
import { exportPi } from './pi-export'
import { importPi } from './pi-import'

export { fileNameFor } from './file-name'

export type ExportFormat = 'pi' | 'json' | 'markdown'
export const EXTENSIONS: Readonly<Record<ExportFormat, string>> = { pi: 'jsonl', json: 'json', markdown: 'md' }

/** Recognises the format by itself. Nothing is stored when it fails. */
export function importSession(store: Store, text: string, options: ImportOptions): Imported | NotASession {
  const [, first = ''] = /^\s*([^\n]*)/.exec(text) ?? []
  // a line of a Pi file is an object by itself; a document of Tau goes over many lines, or is a single object that says so
  const line = parseJson(first)
  const document = isObject(line) ? ('tau' in line && !('type' in line) ? line : undefined) : parseJson(text.replace(/^\uFEFF/, ''))
  if (isObject(document) && 'tau' in document) return importJson(store, document, options)
  if (/^\{\s*"tau"\s*:/.test(first))
    return {
      ok: false,
      code: 'not_a_session',
      message: 'This is a session that Tau exported, but the file is cut or damaged. Export it again.'
    }
  return importPi(store, text, options)
}

/** Pieces of the file; undefined when there is no such session. */
export function exportSession(store: Store, id: string, format: ExportFormat): Generator<string> | undefined {
  const session = store.sessions.find(id)
  if (!session) return undefined
  switch (format) {
    case 'pi':
      return exportPi(store, session)
    case 'json':
      return exportJson(store, session)
    case 'markdown':
      return exportMarkdown(store, session)
  }
}
