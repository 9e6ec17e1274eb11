// The way into a running Tau for other programs of the same person (spec D3): a second start, `tau steer` while a window is open. It is the same
// API on a socket that only this account can reach, in a folder of its own, with a token that stands in the data folder.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { RPCHandler } from '@orpc/server/ws'
import { WebSocketServer } from 'ws'
import type { OwnerCard } from '../../store/open/lock'
import type { Router } from '../router'

export interface Door {
  close(): void
}

/** Largest message in either direction: a whole session file fits. */
export const MAX_MESSAGE_BYTES = 512 * 1024 * 1024

/** Opens the door and says through `announce` where it is. A door that cannot be opened is no reason not to start: it is left out. */
export function openDoor(
  router: Router,
  announce: (card: Pick<OwnerCard, 'socket' | 'token'>) => void,
  failed: (error: unknown) => void
): Door {
  const token = randomBytes(32).toString('base64url')
  const expected = Buffer.from(`Bearer ${token}`)
  const knows = ({ headers }: IncomingMessage): boolean => {
    const given = Buffer.from(headers.authorization ?? '')
    return given.length === expected.length && timingSafeEqual(given, expected)
  }
  const socket = socketPath()
  const server = createServer((_req, res) => {
    res.writeHead(426).end()
  })
  const sockets = new WebSocketServer({
    server,
    maxPayload: MAX_MESSAGE_BYTES,
    // a browser always names an origin and can never come in here
    verifyClient: ({ req, origin }: { req: IncomingMessage; origin: string | undefined }) => origin === undefined && knows(req)
  })
  const handler = new RPCHandler(router)
  sockets.on('connection', (client) => {
    void handler.upgrade(client)
  })
  server.once('error', failed)
  server.listen(socket, () => {
    if (process.platform !== 'win32') chmodSync(socket, 0o600)
    announce({ socket, token })
  })
  server.unref()
  return {
    close() {
      for (const client of sockets.clients) client.terminate()
      sockets.close()
      server.close()
      if (process.platform !== 'win32') rmSync(dirname(socket), { recursive: true, force: true })
    }
  }
}

/** A folder of its own that nobody else may enter; paths of sockets are short (about 100 characters), so not inside the data folder. */
function socketPath(): string {
  if (process.platform === 'win32') return `\\\\.\\pipe\\tau-${randomBytes(16).toString('hex')}`
  return join(mkdtempSync(join(tmpdir(), 'tau-')), 'door')
}
