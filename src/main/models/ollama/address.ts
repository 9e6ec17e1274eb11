// Where a real Ollama may listen: OLLAMA_HOST as Ollama itself reads it, else the two loopback addresses (spec M2).
import { isLoopback } from './http'

/** Base URLs to try, in order. `env`: the environment. An OLLAMA_HOST that is no address leaves the usual ones. */
export function ollamaAddresses(env: NodeJS.ProcessEnv): string[] {
  const given = (env['OLLAMA_HOST'] ?? '').trim().replace(/^["']|["']$/g, '')
  const url = given === '' ? undefined : readHost(given)
  return url ? (url.hostname === 'localhost' ? loopbacks(url) : [textOf(url)]) : loopbacks(new URL(`http://localhost:${PORT}`))
}

const PORT = '11434'

/** `host`, `host:port`, `:port`, `scheme://host[:port][/path]`; an address to listen on everywhere means this machine. */
function readHost(given: string): URL | undefined {
  const scheme = /^[a-z]+:\/\//i.exec(given)?.[0]
  const rest = scheme ? given.slice(scheme.length) : given
  const bareIpv6 = /^[0-9a-f:]+$/i.test(rest) && rest.split(':').length > 2
  const host = bareIpv6 ? `[${rest}]` : rest.startsWith(':') ? `localhost${rest}` : rest
  const url = URL.parse(`${scheme ?? 'http://'}${host}`)
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined
  // a scheme brings its own port, a bare name Ollama's
  if (!scheme && url.port === '' && !/:80(\/|$)/.test(host)) url.port = PORT
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  if (url.hostname === '[::]') url.hostname = '[::1]'
  return url
}

/** localhost may resolve to either family, and the server listens on one. */
const loopbacks = (url: URL): string[] =>
  ['127.0.0.1', '[::1]'].map((host) => {
    const each = new URL(url)
    each.hostname = host
    return textOf(each)
  })

const textOf = (url: URL): string => url.href.replace(/\/+$/, '')

/** Whether an address stays on this machine. */
export const staysLocal = (baseUrl: string): boolean => isLoopback(URL.parse(baseUrl)?.hostname ?? '')
