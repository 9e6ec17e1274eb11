import type { ModelInfo } from '../../../shared/contract'
import { texts } from '../text/index.svelte'

/** What a model is called: by its entry in the list, else by its id. Scripts are in no list: the tour has a name, others are files. */
export function modelName(id: string, known: ModelInfo | undefined): string {
  if (known) return known.name
  if (id.startsWith('scripted:tour-')) return texts.m.model.sources.scripted
  return id.startsWith('scripted:') ? id.slice(id.search(/[^/\\:]*$/)) : id
}
