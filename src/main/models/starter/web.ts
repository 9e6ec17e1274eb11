// The way to the internet for downloads: the person's proxy and certificates, and short limits where another source may be nearer.
import { readFileSync } from 'node:fs'
import { getCACertificates } from 'node:tls'
import { EnvHttpProxyAgent, fetch, type Response } from 'undici'

export interface Web {
  /** Like fetch, following redirects; credentials in the address are sent as a header, to that host only. Rejects as fetch does. */
  get(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response>
  close(): Promise<void>
}

/** `certificates`: files to trust beside Node's and the system's own; `connectMs` and `idleMs`: limits to connect and between two packets. */
export function openWeb(options: { certificates: readonly string[]; connectMs: number; idleMs: number }): Web {
  const ca = [
    ...new Set([...getCACertificates('default'), ...getCACertificates('system'), ...options.certificates.flatMap(readCertificates)])
  ]
  const tls = { ca }
  const agent = new EnvHttpProxyAgent({
    connect: { ...tls, timeout: options.connectMs },
    requestTls: tls,
    proxyTls: tls,
    headersTimeout: options.idleMs,
    bodyTimeout: options.idleMs
  })
  return {
    get(given, headers, signal) {
      const url = new URL(given)
      const { username, password } = url
      url.username = ''
      url.password = ''
      const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
      return fetch(url, {
        dispatcher: agent,
        signal,
        headers: { 'Accept-Encoding': 'identity', ...(username !== '' && { Authorization: `Basic ${login}` }), ...headers }
      })
    },
    close: () => agent.destroy()
  }
}

function readCertificates(path: string): string[] {
  try {
    return [readFileSync(path, 'utf8')]
  } catch {
    return []
  }
}
