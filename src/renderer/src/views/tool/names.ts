import { texts } from '../../text/index.svelte'

interface Before {
  readonly sessionId: string
  readonly tool: string
}

/** What somebody waits for, in a few words: calls of the same session by their tool, those of others by their session; two names, then a number. */
export function namesOf(behind: readonly Before[], sessionId: string, titleOf: (id: string) => string | undefined): string {
  const { untitled } = texts.m.sidebar
  const names = new Set(
    behind.map((b) => (b.sessionId === sessionId ? b.tool : (titleOf(b.sessionId) ?? texts.m.work.unknown) || untitled))
  )
  const [first = '', ...others] = names
  return others.length === 0 ? first : texts.m.tool.andMore(first, others.length)
}
