// A program that finds the data folder owned by a running Tau talks to that one instead (spec D3).
import { createORPCClient } from '@orpc/client'
import { RPCLink } from '@orpc/client/websocket'
import type { ContractRouterClient } from '@orpc/contract'
import { WebSocket } from 'ws'
import type { contract } from '../../../shared/contract'
import { readOwner } from '../../store/open/lock'
import { MAX_MESSAGE_BYTES } from './door'

/** The API, whoever answers it. */
export type Client = ContractRouterClient<typeof contract>

export interface Visit {
  readonly client: Client
  close(): void
}

/** An owner that brings a large folder up to date opens its door when it is done. */
const PATIENCE_MS = 10_000

/** Connects to the owner of a data folder; undefined when none answers (it is only starting, or of an older version without a door). */
export async function visitOwner(home: string): Promise<Visit | undefined> {
  const until = Date.now() + PATIENCE_MS
  for (;;) {
    const { socket, token, pid } = readOwner(home) ?? {}
    const connected = socket === undefined || token === undefined ? undefined : await connect(socket, token)
    if (connected) {
      const link = new RPCLink({ websocket: connected as unknown as globalThis.WebSocket })
      return {
        client: createORPCClient<Client>(link),
        close: () => {
          connected.close()
        }
      }
    }
    if (Date.now() > until || (pid !== undefined && !isAlive(pid))) return undefined
    await new Promise((resolve) => setTimeout(resolve, 100)) // an owner that has just taken the folder opens its door a moment later
  }
}

/** What a killed owner left says nothing any more. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

function connect(path: string, token: string): Promise<WebSocket | undefined> {
  const socket = new WebSocket(`ws+unix:${path}:/`, { headers: { authorization: `Bearer ${token}` }, maxPayload: MAX_MESSAGE_BYTES })
  return new Promise((resolve) => {
    socket.once('open', () => {
      resolve(socket)
    })
    socket.once('error', () => {
      resolve(undefined)
    })
  })
}
