// `tau tree`, `goto`, `label`, `fork`, `delete`: a session's tree, and moving about in it (spec S1).
import type { TreeNode } from '../../../shared/contract'
import { SideEnding } from '../../../shared/session'
import type { Client } from '../../app/owner/visitor'
import { EXIT, Failure } from '../failure'
import { findEntry, findSession } from './find'
import { inert } from '../printer'
import { text } from '../text'

const line = (words: string): void => void process.stdout.write(`${words}\n`)

export async function printTree(client: Client, id: string, options: { json?: boolean }): Promise<number> {
  const { id: sessionId } = await findSession(client, id)
  const [nodes, { head }] = await Promise.all([client.sessions.tree({ sessionId }), client.sessions.open({ sessionId })])
  if (options.json) for (const node of nodes) line(JSON.stringify(node))
  else for (const { node, depth } of inLines(nodes)) line(drawn(node, depth, node.id === head))
  return EXIT.ok
}

/** Depth first; what follows a message alone stands below it, only branches go in. */
function* inLines(nodes: readonly TreeNode[]): Generator<{ node: TreeNode; depth: number }> {
  const children = new Map<string | null, TreeNode[]>()
  for (const node of nodes) children.set(node.parentId, [...(children.get(node.parentId) ?? []), node])
  const stack = (children.get(null) ?? []).map((node) => ({ node, depth: 0 })).reverse()
  for (let next = stack.pop(); next; next = stack.pop()) {
    yield next
    const below = children.get(next.node.id) ?? []
    const depth = next.depth + (below.length > 1 ? 1 : 0)
    stack.push(...below.map((node) => ({ node, depth })).reverse())
  }
}

const drawn = (node: TreeNode, depth: number, isHead: boolean): string =>
  `${isHead ? '*' : ' '} ${node.id.slice(-8)}  ${'  '.repeat(depth)}${node.kind.padEnd(9)}  ${node.label === undefined ? '' : `[${inert(node.label)}] `}${inert(node.text)}`

export async function search(client: Client, words: string, options: { json?: boolean }): Promise<number> {
  if (words.trim() === '') throw new Failure(EXIT.usage, text.empty)
  const found = await client.sessions.search({ words })
  if (options.json) for (const node of found) line(JSON.stringify(node))
  else if (found.length === 0) line(text.nothingFound)
  else for (const node of found) line(`${node.sessionId.slice(-8)}  ${node.id.slice(-8)}  ${node.kind.padEnd(9)}  ${inert(node.text)}`)
  return EXIT.ok
}

export async function goTo(client: Client, id: string, entry: string, options: { summary?: boolean }): Promise<number> {
  const { id: sessionId } = await findSession(client, id)
  const node = await findEntry(client, sessionId, entry)
  const { head } = await client.run.goTo({ sessionId, entryId: node.id, ...(options.summary && { summary: true }) })
  line(head ?? '')
  return EXIT.ok
}

/** `begin [message]`, or the way in which the newest side branch ends; without either, the open ones are listed. */
export async function side(client: Client, id: string, action: string | undefined, entry: string | undefined): Promise<number> {
  const { id: sessionId } = await findSession(client, id)
  const { sides } = await client.sessions.open({ sessionId })
  const newest = sides.at(-1)
  if (action === undefined) for (const open of sides) line(`${open.id}  ${inert(open.name)}`)
  else if (action === 'begin') {
    const entryId = entry === undefined ? undefined : (await findEntry(client, sessionId, entry)).id
    line((await client.side.begin({ sessionId, ...(entryId !== undefined && { entryId }) })).id)
  } else {
    const ending = SideEnding.safeParse(action)
    if (!ending.success) throw new Failure(EXIT.usage, text.badSide(action))
    if (!newest) throw new Failure(EXIT.missing, text.noSide)
    line((await client.side.end({ sessionId, sideId: newest.id, ending: ending.data })).head ?? '')
  }
  return EXIT.ok
}

export async function label(client: Client, id: string, entry: string, name: string): Promise<number> {
  const { id: sessionId } = await findSession(client, id)
  await client.sessions.label({ sessionId, entryId: (await findEntry(client, sessionId, entry)).id, label: name })
  return EXIT.ok
}

export async function fork(client: Client, id: string, entry: string, options: { branches?: boolean }): Promise<number> {
  const { id: sessionId } = await findSession(client, id)
  const node = await findEntry(client, sessionId, entry)
  const made = await client.sessions.fork({ sessionId, entryId: node.id, branches: options.branches ?? false })
  line(made.id)
  return EXIT.ok
}

export async function remove(client: Client, id: string, options: { restore?: boolean; purge?: boolean }): Promise<number> {
  const { id: sessionId } = await findSession(client, id)
  if (options.restore) await client.sessions.restore({ sessionId })
  else if (options.purge) await client.sessions.purge({ sessionId })
  else await client.sessions.bin({ sessionId })
  process.stderr.write(`${sessionId} ${options.restore ? text.restored : options.purge ? text.purged : text.removed}\n`)
  return EXIT.ok
}
