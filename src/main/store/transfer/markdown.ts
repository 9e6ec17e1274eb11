// A session for people to read: the path to the head first, then every other branch with the place where it leaves.
import { callsOf, type Message, textOf } from '../../../shared/message'
import type { Entry, Session } from '../../../shared/session'
import type { Store } from '../store'

/** Pieces of the document. */
export function* exportMarkdown(store: Store, session: Session & { readonly head: string | null }): Generator<string> {
  const { id, head } = session
  const labels = store.sessions.labels(id)
  const path = new Set(Array.from(store.entries.up(id, head), (e) => e.id))
  const names = new Map<string, string>()
  let n = 0
  yield `# ${inline(session.title || 'Session')}\n\n`
  yield `- Model: ${inline(session.model)}\n- Folder: ${inline(session.workspace)}\n- Begun: ${new Date(session.createdAt).toISOString()}\n\n`
  for (const entry of store.entries.all(id)) {
    if (!path.has(entry.id)) continue
    names.set(entry.id, String(++n))
    yield block(entry, String(n), labels[entry.id])
  }
  // branches: a line begins where an entry is not the first child of its parent, or hangs on the path
  const lines: Entry[][] = []
  const byEnd = new Map<string, Entry[]>()
  for (const entry of store.entries.all(id)) {
    if (path.has(entry.id)) continue
    const line = byEnd.get(entry.parentId ?? '') ?? []
    if (line.length === 0) lines.push(line)
    else byEnd.delete(entry.parentId ?? '')
    line.push(entry)
    byEnd.set(entry.id, line)
  }
  let branch = 0
  for (const entries of lines) {
    const from = entries[0]?.parentId
    yield `---\n\n## Branch ${String(++branch)}, from ${from == null ? 'the beginning' : (names.get(from) ?? 'another branch')}\n\n`
    for (const [i, entry] of entries.entries()) {
      const name = `${String(branch)}.${String(i + 1)}`
      names.set(entry.id, name)
      yield block(entry, name, labels[entry.id])
    }
  }
}

function block(entry: Entry, name: string, label: string | undefined): string {
  const mark = label === undefined ? '' : ` — ${inline(label)}`
  switch (entry.type) {
    case 'message':
      return `### ${name}. ${inline(whoOf(entry.message))}${mark}\n\n${wordsOf(entry.message)}`
    case 'compaction':
      return `### ${name}. Summary of what came before${mark}\n\n${entry.summary}\n\n`
    case 'branch_summary':
      return `### ${name}. Summary of another branch${mark}\n\n${entry.summary}\n\n`
    case 'edit':
    case 'model_change':
    case 'imported':
      return ''
  }
}

const whoOf = (message: Message): string =>
  message.role === 'user' ? 'Person' : message.role === 'tool' ? `Result of ${message.name} (${message.code})` : message.model

function wordsOf(message: Message): string {
  if (message.role === 'tool') return `${fence(message.text)}\n\n`
  const pictures =
    message.role === 'user' ? message.parts.filter((p) => p.type === 'image').map((p) => `*(picture, ${inline(p.mime)})*`) : []
  const calls = callsOf(message).map((c) => `Calls **${inline(c.name)}**\n\n${fence(c.arguments)}`)
  const error = message.role === 'assistant' && message.error ? [`*${inline(message.error.message)}*`] : []
  return [textOf(message), ...pictures, ...calls, ...error]
    .filter((t) => t.trim() !== '')
    .map((t) => `${t}\n\n`)
    .join('')
}

/** A fence that is longer than any in the text, so that nothing in it can break out. */
function fence(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((f) => f.length))
  const mark = '`'.repeat(longest + 1)
  return `${mark}\n${text}\n${mark}`
}

/** Text inside a heading or a line: no line breaks, and nothing that Markdown or HTML would take for its own. */
const inline = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(/[\\`*_{}[\]<>#|~!]/g, '\\$&')
