// `tau steer`, `tau queue`: words for a session that is at work, most often in another window (spec Q).
import { randomUUID } from 'node:crypto'
import type { InboxItem, QueueMode } from '../../../shared/session'
import type { Client } from '../../app/owner/visitor'
import { EXIT, Failure } from '../failure'
import { findSession } from './find'
import { inert } from '../printer'
import { text } from '../text'

const KINDS = ['steer', 'follow-up', 'interrupt'] as const
const MODES = ['one-at-a-time', 'all'] as const

export async function steer(client: Client, id: string, words: string, options: { now?: boolean; later?: boolean }): Promise<number> {
  if (words.trim() === '') throw new Failure(EXIT.usage, text.empty)
  const session = await findSession(client, id)
  const kind: InboxItem['kind'] = options.now ? 'interrupt' : options.later ? 'follow-up' : 'steer'
  const { accepted } = await client.run.prompt({ sessionId: session.id, text: words, itemId: randomUUID(), kind })
  process.stderr.write(`${accepted === 'started' ? text.begun : text.taken}\n`)
  return EXIT.ok
}

export async function queue(client: Client, id: string, action: string[], options: { json?: boolean }): Promise<number> {
  const { id: sessionId } = await findSession(client, id)
  if (action.length > 0) await change(client, sessionId, action)
  const { queue: items } = await client.sessions.open({ sessionId })
  if (options.json) for (const item of items) process.stdout.write(`${JSON.stringify(item)}\n`)
  else if (items.length === 0) process.stdout.write(`${text.queueEmpty}\n`)
  else
    for (const item of items)
      process.stdout.write(
        `${item.id}  ${item.kind.padEnd(9)}  ${item.held ? `[${text.held}] ` : ''}${inert(item.text.replaceAll(/\s+/g, ' '))}\n`
      )
  return EXIT.ok
}

async function change(client: Client, sessionId: string, [verb = '', given, ...rest]: string[]): Promise<void> {
  const wrong = new Failure(EXIT.usage, text.badQueue(verb))
  const itemId = verb === 'mode' || given === undefined ? undefined : await findItem(client, sessionId, given)
  switch (verb) {
    case 'release':
      await client.queue.release({ sessionId, ...(itemId !== undefined && { itemId }) })
      return
    case 'mode': {
      const mode = MODES.find((m): m is QueueMode => m === rest[0])
      if (!mode || (given !== 'steer' && given !== 'follow-up')) throw wrong
      await client.sessions.setQueueModes({ sessionId, ...(given === 'steer' ? { steer: mode } : { followUp: mode }) })
      return
    }
    case 'withdraw':
      if (itemId === undefined) throw wrong
      await client.queue.withdraw({ sessionId, itemId })
      return
    case 'edit':
      if (itemId === undefined || rest.length === 0) throw wrong
      await client.queue.edit({ sessionId, itemId, text: rest.join(' ') })
      return
    case 'kind': {
      const kind = KINDS.find((k) => k === rest[0])
      if (itemId === undefined || !kind) throw wrong
      await client.queue.edit({ sessionId, itemId, kind })
      return
    }
    case 'move':
      if (itemId === undefined) throw wrong
      await client.queue.move({ sessionId, itemId, before: rest[0] === undefined ? null : await findItem(client, sessionId, rest[0]) })
      return
    default:
      throw wrong
  }
}

async function findItem(client: Client, sessionId: string, given: string): Promise<string> {
  const { queue: items } = await client.sessions.open({ sessionId })
  const found = items.filter((i) => i.id === given || (given.length >= 4 && i.id.endsWith(given)))
  return found.length === 1 ? (found[0] as InboxItem).id : given
}
