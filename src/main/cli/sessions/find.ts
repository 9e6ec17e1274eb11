// What a person names on the command line, by its id or by the end of it.
import type { TreeNode } from '../../../shared/contract'
import type { Session } from '../../../shared/session'
import type { Client } from '../../app/owner/visitor'
import { EXIT, Failure } from '../failure'
import { text } from '../text'

/** The one of `all` that is called `id` or ends so; undefined when there is none, or more than one. */
export function oneOf<T extends { readonly id: string }>(all: readonly T[], id: string): T | undefined {
  const exact = all.find((x) => x.id === id)
  if (exact) return exact
  const found = id.length >= 4 ? all.filter((x) => x.id.endsWith(id)) : []
  return found.length === 1 ? found[0] : undefined
}

/** Open, archived or in the bin. Throws Failure when there is no such session. */
export async function findSession(client: Client, id: string): Promise<Session> {
  const lists = await Promise.all([{}, { archived: true }, { binned: true }].map((which) => client.sessions.list(which)))
  const session = oneOf(lists.flat(), id)
  if (!session) throw new Failure(EXIT.missing, text.noSession(id))
  return session
}

export async function findEntry(client: Client, sessionId: string, id: string): Promise<TreeNode> {
  const node = oneOf(await client.sessions.tree({ sessionId }), id)
  if (!node) throw new Failure(EXIT.missing, text.noEntry(id))
  return node
}
