// The web host (spec D3): serves the window's own page and its API to a browser on this machine, and to nobody else.
//
// The printed link holds a token that works once: it is exchanged for a cookie that scripts cannot read, and the address bar is clean after.
// Every request must name a loopback Host (else a foreign page could reach us by rebinding its name), the socket also our own Origin.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { extname, join, normalize, sep } from 'node:path'
import { RPCHandler } from '@orpc/server/ws'
import { WebSocketServer } from 'ws'
import type { Router } from '../app/router'

export interface WebHost {
  /** Address with a fresh one-time token. */
  link(): string
  readonly port: number
  close(): Promise<void>
}
export interface WebOptions {
  readonly router: Router
  /** Folder of the built page. */
  readonly root: string
  /** 0 for any free port. */
  readonly port: number
  /** A used link was opened in a browser that has no cookie: a new one should be shown. */
  onUsedLink(): void
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm'
}

/** Listens on 127.0.0.1. Rejects with the system's error when the port is taken. */
export async function startWebHost(options: WebOptions): Promise<WebHost> {
  const cookie = randomBytes(32).toString('base64url')
  const fresh = new Set<string>()
  const used = new Set<string>()
  let port = 0
  const cookieName = (): string => `tau_${String(port)}` // cookies ignore ports: two instances must not overwrite each other

  const knows = (req: IncomingMessage): boolean =>
    (req.headers.cookie ?? '').split(/;\s*/).some((c) => c.startsWith(`${cookieName()}=`) && same(c.slice(cookieName().length + 1), cookie))

  const server = createServer((req, res) => {
    void answer(req, res).catch(() => {
      if (!res.headersSent) res.writeHead(500)
      res.end()
    })
  })
  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (!isLocal(req.headers.host)) {
      send(res, 421, 'This address is for this computer only.')
      return
    }
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      send(res, 405, 'Only GET.')
      return
    }
    const url = URL.parse(req.url ?? '/', 'http://local')
    if (!url) {
      send(res, 404, 'There is nothing here.')
      return
    }
    const token = url.searchParams.get('token')
    if (url.pathname === '/' && token !== null && req.method === 'GET') {
      enter(res, token, knows(req))
      return
    }
    if (url.pathname === '/' && !knows(req)) {
      send(res, 401, NO_COOKIE)
      return
    }
    await sendFile(res, options.root, url.pathname)
  }
  function enter(res: ServerResponse, token: string, known: boolean): void {
    if (fresh.delete(token)) {
      used.add(token)
      const set = `${cookieName()}=${cookie}; HttpOnly; SameSite=Strict; Path=/`
      res.writeHead(303, { location: '/', 'set-cookie': set, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }).end()
    } else if (known) {
      res.writeHead(303, { location: '/', 'cache-control': 'no-store' }).end()
    } else {
      if (used.delete(token)) options.onUsedLink() // once a token: asking again and again must not flood the terminal
      send(res, 401, USED_LINK)
    }
  }

  const sockets = new WebSocketServer({
    server,
    path: '/rpc',
    maxPayload: 8 * 1024 * 1024,
    verifyClient: ({ req, origin }: { req: IncomingMessage; origin: string | undefined }) =>
      isLocal(req.headers.host) && origin === `http://${req.headers.host ?? ''}` && knows(req)
  })
  const handler = new RPCHandler(options.router)
  sockets.on('connection', (socket) => {
    void handler.upgrade(socket)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, '127.0.0.1', resolve)
  })
  const address = server.address()
  port = typeof address === 'object' && address ? address.port : options.port
  return {
    port,
    link() {
      const token = randomBytes(24).toString('base64url')
      fresh.add(token)
      return `http://127.0.0.1:${String(port)}/?token=${token}`
    },
    close: () =>
      new Promise((resolve) => {
        for (const s of sockets.clients) s.terminate()
        sockets.close()
        server.close(() => {
          resolve()
        })
        server.closeAllConnections()
      })
  }
}

/** Compared as bytes: a letter outside of ASCII has several, and buffers of different length cannot be compared at all. */
function same(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
const isLocal = (host: string | undefined): boolean => /^(127\.0\.0\.1|localhost|\[::1\]):\d+$/.test(host ?? '')

/** What cannot be decoded names no file. */
function decoded(pathname: string): string {
  try {
    return decodeURIComponent(pathname)
  } catch {
    return '\0'
  }
}

async function sendFile(res: ServerResponse, root: string, pathname: string): Promise<void> {
  const path = normalize(join(root, pathname === '/' ? 'index.html' : decoded(pathname)))
  const body = path.startsWith(root + sep) ? await readFile(path).catch(() => undefined) : undefined
  if (!body) {
    send(res, 404, 'There is nothing here.')
    return
  }
  const lasting = pathname.startsWith('/assets/') // their names hold a hash of what they contain
  res.writeHead(200, {
    'content-type': TYPES[extname(path)] ?? 'application/octet-stream',
    'cache-control': lasting ? 'public, max-age=31536000, immutable' : 'no-store',
    ...SAFE_HEADERS
  })
  res.end(body)
}

const SAFE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin'
}
const NO_COOKIE = 'Open Tau with the link that it printed in its terminal.\n\n请使用 Tau 在终端中显示的链接打开。'
const USED_LINK = 'This link was used already. Tau has printed a new one in its terminal.\n\n这个链接已经用过，Tau 在终端中显示了新的链接。'

function send(res: ServerResponse, status: number, text: string): void {
  res.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...SAFE_HEADERS }).end(text)
}
