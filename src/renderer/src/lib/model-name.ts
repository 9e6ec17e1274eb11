import type { ModelInfo } from '../../../shared/contract'
import { texts } from '../text/index.svelte'

/** What a model is called: by its entry in the list, else by its id. The guided tour's script is in no list. */
export function modelName(id: string, known: ModelInfo | undefined): string {
  return known?.name ?? (id.startsWith('scripted:') ? texts.m.model.sources.scripted : id)
}
