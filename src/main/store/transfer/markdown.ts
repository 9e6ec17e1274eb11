// A session for people to read: the path to the head first, then every other branch with the place where it leaves. What people, models and
// tools said stays in its place: no open fence or HTML of one message reaches into the next.
import { callsOf, type Message, textOf } from '../../../shared/message'
import type { Entry, Session } from '../../../shared/session'
import type { Store } from '../store'
import { iso } from './pi-line'

/** Pieces of the document. */
export function* exportMarkdown(store: Store, session: Session & { readonly head: string | null }): Generator<string> {
  const { id, head } = session
  const labels = store.sessions.labels(id)
  const path = new Set(Array.from(store.entries.up(id, head), (e) => e.id))
  const names = new Map<string, string>()
  const lines: string[][] = []
  const byEnd = new Map<string, string[]>()
  let count = 0
  yield `# ${inline(session.title || 'Session')}\n\n`
  yield `- Model: ${inline(session.model)}\n- Folder: ${inline(session.workspace)}\n- Begun: ${iso(session.createdAt)}\n`
  yield `- Entries: ${String(store.entries.count(id))}\n\n`
  for (const entry of store.entries.all(id)) {
    if (path.has(entry.id)) {
      names.set(entry.id, String(++count))
      yield block(entry, String(count), labels[entry.id])
      continue
    }
    // a line begins where an entry hangs on the path, or is not the first below its parent
    const parent = entry.parentId ?? ''
    const line = byEnd.get(parent) ?? []
    if (line.length === 0) lines.push(line)
    byEnd.delete(parent)
    line.push(entry.id)
    byEnd.set(entry.id, line)
  }
  for (const [i, line] of lines.entries()) {
    const branch = String(i + 1)
    for (const [k, entryId] of line.entries()) {
      const entry = store.entries.find(id, entryId)
      if (!entry) continue
      const from = entry.parentId === null ? 'the beginning' : (names.get(entry.parentId) ?? 'another')
      if (k === 0) yield `---\n\n## Branch ${branch}, from ${from}\n\n`
      const name = `${branch}.${String(k + 1)}`
      names.set(entryId, name)
      yield block(entry, name, labels[entryId])
    }
  }
}

function block(entry: Entry, name: string, label: string | undefined): string {
  const head = (what: string): string => `### ${name}. ${what}${label === undefined ? '' : ` — ${inline(label)}`}\n\n`
  switch (entry.type) {
    case 'message':
      return head(inline(whoOf(entry.message))) + wordsOf(entry.message)
    case 'compaction':
      return `${head('Summary of what came before')}${body(entry.summary)}\n\n`
    case 'branch_summary':
      return `${head('Summary of another branch')}${body(entry.summary)}\n\n`
    case 'edit':
      return entry.message
        ? head('From here on, an earlier message reads') + wordsOf(entry.message)
        : head('From here on, an earlier message is hidden')
    case 'model_change':
      return head(`Model: ${inline(entry.model)}`)
    case 'imported':
      return label === undefined ? '' : head(`(${inline(entry.what)})`)
  }
}

const whoOf = (message: Message): string =>
  message.role === 'user' ? 'Person' : message.role === 'tool' ? `Result of ${message.name} (${message.code})` : message.model || 'Model'

function wordsOf(message: Message): string {
  if (message.role === 'tool') return `${fence(message.text)}\n\n`
  const pictures =
    message.role === 'user' ? message.parts.filter((p) => p.type === 'image').map((p) => `*(picture, ${inline(p.mime)})*`) : []
  const calls = callsOf(message).map((c) => `Calls **${inline(c.name)}**\n\n${fence(c.arguments)}`)
  const error = message.role === 'assistant' && message.error ? [`*${inline(message.error.message)}*`] : []
  return [body(textOf(message)), ...pictures, ...calls, ...error]
    .filter((t) => t.trim() !== '')
    .map((t) => `${t}\n\n`)
    .join('')
}

/** A fence that is longer than any in the text, so that nothing in it can break out. */
function fence(text: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((max, f) => Math.max(max, f.length), 2)
  const mark = '`'.repeat(longest + 1)
  return `${mark}\n${text}\n${mark}`
}

/**
 * Words with their own Markdown. A fence that was left open is closed, and HTML outside fences is text. Only a fence at the very beginning of a
 * line counts as one: what a list or a quote holds may end before its fence does.
 */
function body(text: string): string {
  let open = ''
  let whole = true
  const lines = text.split(/\r\n|[\n\r]/).map((line) => {
    if (open !== '') {
      const end = /^ {0,3}(`+|~+)[ \t]*$/.exec(line)?.[1]
      if (end?.startsWith(open) === true) open = ''
      return line
    }
    const fenced = /^(?:(`{3,})[^`]*|(~{3,}).*)$/.exec(line)
    open = fenced?.[1] ?? fenced?.[2] ?? ''
    if (open !== '') return line
    if (line.trim() === '') whole = true
    const [shown, isWhole] = withoutHtml(line, whole)
    whole = isWhole
    return shown
  })
  return (open === '' ? lines : [...lines, open]).join('\n')
}

/**
 * A line whose tags are text. Inside a code span they are text already, as long as every span before it in its paragraph was closed on its line
 * (`whole`): otherwise a reader may pair the backticks otherwise than we do.
 */
function withoutHtml(line: string, whole: boolean): [string, boolean] {
  let isWhole = whole
  const shown = line.replaceAll(/\\[\\`]|(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)|`+|<(?=[a-z/!?])/gi, (found, ticks: string | undefined) => {
    if (found === '<') return '&lt;'
    if (ticks !== undefined) return isWhole ? found : found.replaceAll(/<(?=[a-z/!?])/gi, '&lt;')
    if (found.startsWith('`')) isWhole = false
    return found
  })
  return [shown, isWhole]
}

/** Text inside a heading or a line: no line breaks, and nothing that Markdown or HTML would take for its own. */
const inline = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(/[\\`*_{}[\]<>#|~!&]/g, '\\$&')
