// What an approval is called, in the card, in a notification and for those who listen: the same words everywhere.
import type { Approval, Preview } from '../../../../shared/session'
import { fieldsOf } from '../../markup/arguments'
import { hasUnseen, mixesScripts } from '../../markup/visible'
import { texts } from '../../text/index.svelte'

/** One sentence: what Tau wants. */
export function titleOf({ preview, tool }: Approval): string {
  const { titles, use } = texts.m.approval
  switch (preview.kind) {
    case 'file':
      return titles[preview.change]
    case 'command':
      return preview.background ? titles.background : titles.command
    case 'url':
      return titles.url
    case 'question':
      return titles.question
    case 'arguments':
      return use(tool)
  }
}

/** The one thing that it is about: a path, a command, an address, the question; empty when only the arguments say it. */
export function subjectOf({ preview }: Approval): string {
  switch (preview.kind) {
    case 'file':
      return preview.path
    case 'command':
      return preview.command
    case 'url':
      return preview.url
    case 'question':
      return preview.question
    case 'arguments':
      return ''
  }
}

/** Paths and hosts that the preview names, so that they need not be named again. */
export function shownIn(preview: Preview): string[] {
  if (preview.kind === 'file') return [preview.path, ...(preview.to === undefined ? [] : [preview.to])]
  return preview.kind === 'url' && URL.canParse(preview.url) ? [new URL(preview.url).hostname, new URL(preview.url).host] : []
}

/**
 * What the eye would miss. `hidden`: something in what is shown cannot be seen. `mixed`: a path, command or address mixes alphabets within a
 * word; a text in two alphabets is nothing special, so contents and questions do not count.
 */
export function deceptionOf(approval: Approval): 'hidden' | 'mixed' | undefined {
  const { preview } = approval
  const named =
    preview.kind === 'arguments'
      ? (fieldsOf(approval.arguments)?.flatMap((f) => [f.name, f.value]) ?? [approval.arguments])
      : preview.kind === 'file'
        ? [preview.path, preview.to ?? '']
        : preview.kind === 'command'
          ? [preview.command, preview.cwd]
          : [subjectOf(approval)]
  const shown = preview.kind === 'file' ? [...named, preview.diff] : preview.kind === 'question' ? [...named, ...preview.choices] : named
  if (shown.some(hasUnseen)) return 'hidden'
  return preview.kind !== 'question' && named.some(mixesScripts) ? 'mixed' : undefined
}
