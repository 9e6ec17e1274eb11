import { Agent, fetch } from 'undici'
import { z } from 'zod'
import type { Tool, ToolOutput, ToolRun } from '../../loop/tool'
import { pictureType } from '../files/read-file'
import { looksBinary } from '../files/text'
import { type Address, publicAddresses } from './address'
import { pageText } from './page'
import { pdfText } from './pdf'

const MAX_BODY = 5_000_000
const MAX_TEXT = 40_000
const MAX_HOPS = 5
const LIMIT_MS = 30_000

const Arguments = z.strictObject({ url: z.string().min(1).max(4_000) })

/**
 * A page, a text, a picture or a PDF from the public web, as text. Nothing of the person goes along: no cookies, no keys. A redirect to another
 * host is not followed but named, as it was another host that was allowed. `addresses`: looks a host up and refuses what must not be reached.
 */
export function fetchUrlTool(addresses: (host: string) => Promise<Address[]> = publicAddresses): Tool<z.infer<typeof Arguments>> {
  return {
    name: 'fetch_url',
    description: 'Fetch a web page as text.',
    label: 'network',
    replay: 'safe',
    parameters: Arguments,
    timeLimitMs: LIMIT_MS + 5_000,
    touches: ({ url }) => ({ urls: [url] }),
    preview({ url }) {
      const checked = check(url)
      return Promise.resolve(
        'refusal' in checked ? { refuse: checked.refusal } : { preview: { kind: 'url', method: 'GET', url: checked.href }, basis: '' }
      )
    },
    async execute({ url }, run) {
      const checked = check(url)
      if ('refusal' in checked) return checked.refusal
      try {
        return await follow(checked, run, addresses)
      } catch (error) {
        return run.signal.aborted ? { code: 'aborted', text: 'The call was stopped.' } : unreachable(checked, error)
      }
    }
  }
}

function check(url: string): URL | { refusal: ToolOutput } {
  const refuse = (text: string): { refusal: ToolOutput } => ({ refusal: { code: 'bad_url', text: `${text} Nothing was fetched.` } })
  const parsed = URL.parse(url)
  if (!parsed || (parsed.protocol !== 'https:' && parsed.protocol !== 'http:')) return refuse(`${url} is not an http or https address.`)
  if (parsed.username !== '' || parsed.password !== '') return refuse('An address must not hold a name or a password.')
  return parsed
}

async function follow(first: URL, run: ToolRun, addresses: (host: string) => Promise<Address[]>): Promise<ToolOutput> {
  const signal = AbortSignal.any([run.signal, AbortSignal.timeout(LIMIT_MS)])
  let url = first
  for (let hop = 0; hop <= MAX_HOPS; hop++) {
    const [address] = await addresses(url.hostname)
    if (!address) throw new Error('no address')
    // the connection goes to the address that was checked; name and certificate are those of the host
    const agent = new Agent({
      connect: {
        lookup: (_host, options, done) => {
          pinned(address, options, done)
        }
      },
      pipelining: 0
    })
    try {
      const response = await fetch(url, {
        dispatcher: agent,
        redirect: 'manual',
        signal,
        headers: { 'user-agent': 'Tau', accept: 'text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.5' }
      })
      const location = response.headers.get('location')
      if (response.status >= 300 && response.status < 400 && location !== null) {
        const next = URL.parse(location, url)
        const checked = next ? check(next.href) : undefined
        if (!checked || 'refusal' in checked)
          return { code: 'bad_redirect', text: `${url.href} leads to an address that cannot be fetched.`, foreign: true }
        if (checked.host !== url.host)
          return {
            code: 'redirect',
            text: `${url.href} leads to another host: ${checked.href}. Fetch that address if you want it.`,
            foreign: true
          }
        if (url.protocol === 'https:' && checked.protocol === 'http:')
          return { code: 'bad_redirect', text: `${url.href} leads from https to http, which was not followed.`, foreign: true }
        url = checked
        continue
      }
      const body = await bodyOf(response, run)
      return await outputOf(url, response.status, response.headers.get('content-type') ?? '', body, run)
    } finally {
      void agent.destroy()
    }
  }
  return { code: 'bad_redirect', text: `${first.href} leads on and on (${String(MAX_HOPS)} redirects). Nothing was fetched.` }
}

type LookupDone = (error: Error | null, address: string | { address: string; family: number }[], family?: number) => void
function pinned({ address, family }: Address, options: { all?: boolean | undefined }, done: LookupDone): void {
  if (options.all) done(null, [{ address, family }])
  else done(null, address, family)
}

interface Body {
  readonly bytes: Buffer
  /** It was longer than what is read. */
  readonly cut: boolean
}

/** Reads as it comes, unpacked, and no further than the limit: a small answer may unpack to a huge one. */
async function bodyOf(response: Awaited<ReturnType<typeof fetch>>, run: ToolRun): Promise<Body> {
  const length = Number(response.headers.get('content-length') ?? NaN)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    const bytes = chunk as Uint8Array
    chunks.push(bytes)
    size += bytes.length
    run.progress({ done: size, ...(length > 0 && { total: Math.max(length, size) }) })
    if (size > MAX_BODY) break
  }
  return { bytes: Buffer.concat(chunks).subarray(0, MAX_BODY), cut: size > MAX_BODY }
}

async function outputOf(url: URL, status: number, type: string, { bytes, cut }: Body, run: ToolRun): Promise<ToolOutput> {
  const said = await textOf(url, type, bytes)
  if ('images' in said)
    return { code: 'ok', text: `${url.href}: ${type}, ${String(bytes.length)} bytes.`, images: said.images, foreign: true }
  const head = [
    `${url.href} (${String(status)}${said.title === '' ? '' : `, ${said.title}`})`,
    ...(cut ? [`[only the first ${String(MAX_BODY)} bytes were fetched]`] : [])
  ]
  const code = status >= 400 ? `http_${String(status)}` : said.code
  if (said.text.length <= MAX_TEXT) return { code, text: [...head, '', said.text].join('\n'), foreign: true }
  const sink = run.outputs.open(true)
  sink.write(said.text)
  await sink.close()
  const line = said.text.slice(0, MAX_TEXT).split('\n').length
  const rest = `[cut: ${String(said.text.length - MAX_TEXT)} more characters; lookup_reference ${sink.ref} reads on from line ${String(line)}]`
  return { code, text: [...head, '', said.text.slice(0, MAX_TEXT).toWellFormed(), rest].join('\n'), ref: sink.ref, foreign: true }
}

type Readable = { code: string; title: string; text: string } | { images: NonNullable<ToolOutput['images']> }

async function textOf(url: URL, type: string, bytes: Buffer): Promise<Readable> {
  const mime = pictureType(bytes)
  if (mime) return { images: [{ type: 'image', mime, data: bytes.toString('base64') }] }
  if (bytes.subarray(0, 5).toString('latin1') === '%PDF-') {
    const pdf = await pdfText(bytes)
    return pdf.ok ? { code: 'ok', title: 'PDF', text: pdf.text } : { code: pdf.code, title: 'PDF', text: pdf.reason }
  }
  const charset =
    /charset=["']?([\w-]+)/i.exec(type)?.[1] ?? /<meta[^>]+charset=["']?([\w-]+)/i.exec(bytes.subarray(0, 2_048).toString('latin1'))?.[1]
  if (charset === undefined && looksBinary(bytes))
    return { code: 'binary', title: '', text: `This is no text (${type || 'no type given'}, ${String(bytes.length)} bytes).` }
  const text = decoderFor(charset).decode(bytes)
  const isPage = /html/i.test(type) || /^\s*(?:<!doctype html|<html\b)/i.test(text)
  return isPage ? { code: 'ok', ...pageText(text, url.href) } : { code: 'ok', title: '', text }
}

function decoderFor(charset = 'utf-8'): TextDecoder {
  try {
    return new TextDecoder(charset)
  } catch {
    return new TextDecoder('utf-8')
  }
}

function unreachable(url: URL, error: unknown): ToolOutput {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : cause instanceof Error ? cause.name : ''
  if (code === 'EPRIVATE')
    return {
      code: 'private_address',
      text: `${url.hostname} is an address of this computer or of its own network. fetch_url reaches the public web only.`
    }
  if (code === 'TimeoutError')
    return { code: 'timeout', text: `${url.hostname} did not answer within ${String(LIMIT_MS / 1_000)} seconds.` }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return { code: 'unreachable', text: `${url.hostname} was not found: there is no such host, or no network.` }
  const why = cause instanceof Error ? cause.message : String(cause)
  return { code: 'unreachable', text: `${url.hostname} could not be reached (${why.slice(0, 200)}).` }
}
