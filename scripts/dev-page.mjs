// The page of `npm run dev` in a browser: vite serves it and swaps its parts, the web host behind it keeps its say in who may use the API.
//
// The host knows a browser by a cookie that it gives for a link that works once, and it looks at Host and Origin. Both stay as they are: links
// and cookies pass through, and what comes from another origin than this page's is refused here, as its headers are rewritten for the host.
// A host that was started again has forgotten its cookie: a browser that held the last one is sent through a fresh link.
import { once } from 'node:events'
import { createServer as createNetServer } from 'node:net'
import { createServer } from 'vite'
import config from '../electron.vite.config.ts'

/** @typedef {import('node:http').IncomingMessage} Request */
/** @typedef {import('node:http').ServerResponse} Response */

/** @param {number} port @returns what the host needs to know, and what to tell the page */
export async function servePage(port) {
  const hostPort = await findFreePort()
  const target = `http://127.0.0.1:${String(hostPort)}`
  /** Link of the running host; undefined while there is none. @type {string | undefined} */
  let link
  /** Cookies that a host gave, the newest last. @type {string[]} */
  const given = []
  /** Which of them the running host gave. */
  let current = ''

  /** @param {Request} req @param {Response} res @param {() => void} next */
  const admit = async (req, res, next) => {
    const url = new URL(req.url ?? '/', target)
    if (url.pathname !== '/') next()
    else if (url.searchParams.has('token')) await enter(url, res)
    else if (given.includes(cookieOf(req)) && cookieOf(req) === current) next()
    else if (given.includes(cookieOf(req)) && link !== undefined) res.writeHead(303, { location: new URL(link).search }).end()
    else {
      const answer = await fetch(target).catch(() => undefined)
      res
        .writeHead(answer?.status ?? 503, { 'content-type': 'text/plain; charset=utf-8' })
        .end((await answer?.text()) ?? 'Tau starts again …')
    }
  }
  /** @param {URL} url @param {Response} res */
  const enter = async (url, res) => {
    const answer = await fetch(`${target}/${url.search}`, { redirect: 'manual' })
    const [cookie] = answer.headers.getSetCookie()
    if (cookie !== undefined) {
      current = valueOf(cookie)
      given.push(current)
      res.setHeader('set-cookie', cookie)
    }
    const location = answer.headers.get('location')
    if (location !== null) res.setHeader('location', location)
    res.writeHead(answer.status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }).end(await answer.text())
  }
  /** @param {string} cookie */
  const valueOf = (cookie) => new RegExp(`(?:^|;\\s*)tau_${String(hostPort)}=([^;]+)`).exec(cookie)?.[1] ?? ''
  /** @param {Request} req */
  const cookieOf = (req) => valueOf(req.headers.cookie ?? '')

  const { renderer } = /** @type {{ renderer: import('vite').UserConfig }} */ (config)
  const server = await createServer({
    ...renderer,
    configFile: false,
    logLevel: 'warn',
    plugins: [
      ...(renderer.plugins ?? []),
      {
        name: 'tau-host',
        configureServer({ middlewares }) {
          middlewares.use((req, res, next) => void admit(req, res, next).catch(next))
        }
      }
    ],
    server: {
      host: '127.0.0.1',
      port,
      proxy: { '/rpc': { target, ws: true, changeOrigin: true, rewriteWsOrigin: true, bypass: (req) => (isOwn(req) ? undefined : false) } }
    }
  })
  await server.listen()
  const address = `http://127.0.0.1:${String(server.config.server.port)}`
  /** @param {Request} req */
  const isOwn = (req) => req.headers.origin === address && `http://${req.headers.host ?? ''}` === address

  return {
    hostPort,
    /** Takes the link that a host printed, and returns it as it works here. @param {string} printed */
    useLink(printed) {
      link = printed
      current = ''
      return `${address}/${new URL(printed).search}`
    },
    /** Every open page loads again. */
    reload: () => {
      server.ws.send({ type: 'full-reload' })
    },
    close: () => server.close()
  }
}

async function findFreePort() {
  const server = createNetServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address ? address.port : 0
}
