// A web page as text that a model can read: the article where there is one, else the whole body; links, lists, tables and code kept.
import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'
import TurndownService from 'turndown'

/** Characters of a page that are parsed; a larger one is only freed of its marks. Parsing is not interruptible, and a page may be hostile. */
const MAX_PARSED = 1_000_000
const MAX_DEPTH = 400

/** Markdown of an HTML page. `url`: where it came from, for relative links. Never throws. */
export function pageText(html: string, url: string): { readonly title: string; readonly text: string } {
  const title = entities(/<title[^>]*>([^<]{0,500})/i.exec(html)?.[1] ?? '').trim()
  if (html.length > MAX_PARSED || depthOf(html) > MAX_DEPTH) return { title, text: bareText(html) }
  try {
    const { document } = parseHTML(html)
    for (const element of document.querySelectorAll('script, style, noscript, template, iframe, svg, form, [hidden], [aria-hidden="true"]'))
      element.remove()
    absoluteLinks(document, url)
    const body = document.body.innerHTML
    const article = new Readability(document, { charThreshold: 200, maxElemsToParse: 50_000 }).parse()
    const text = markdown(article?.content ?? body)
    return { title: article?.title?.trim() || title, text: text === '' ? bareText(html) : text }
  } catch {
    return { title, text: bareText(html) }
  }
}

function absoluteLinks(document: ReturnType<typeof parseHTML>['document'], base: string): void {
  for (const link of document.querySelectorAll('a[href]')) {
    const href = link.getAttribute('href') ?? ''
    const full = URL.parse(href, base)
    if (full && /^https?:$/.test(full.protocol)) link.setAttribute('href', full.href)
    else link.removeAttribute('href')
  }
}

function markdown(html: string): string {
  const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' })
  service.addRule('picture', {
    filter: 'img',
    replacement: (_, node) => {
      const alt = (node as unknown as { getAttribute(name: string): string | null }).getAttribute('alt') ?? ''
      return alt === '' ? '' : `[picture: ${alt}]`
    }
  })
  service.addRule('cell', {
    filter: ['th', 'td'],
    replacement: (content) => ` ${content.trim().replaceAll('\n', ' ').replaceAll('|', '\\|')} |`
  })
  service.addRule('row', {
    filter: 'tr',
    replacement: (content, node) => {
      const cells = (content.match(/(?<!\\)\|/g) ?? []).length
      const row = node as unknown as {
        previousElementSibling: unknown
        parentNode: { nodeName: string; previousElementSibling: unknown } | null
      }
      const isFirst = !row.previousElementSibling && (row.parentNode?.nodeName !== 'TBODY' || !row.parentNode.previousElementSibling)
      return `\n|${content}${isFirst ? `\n|${' --- |'.repeat(cells)}` : ''}`
    }
  })
  service.addRule('table', { filter: 'table', replacement: (content) => `\n\n${content.trim()}\n\n` })
  return service
    .turndown(html)
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

/** The words of a page and nothing else. One pass: a hostile page cannot make it slow. */
function bareText(html: string): string {
  const pieces: string[] = []
  const lower = html.toLowerCase()
  for (let at = 0; at < html.length;) {
    const open = html.indexOf('<', at)
    pieces.push(html.slice(at, open === -1 ? html.length : open))
    if (open === -1) break
    const skipped = SKIPPED.find(([start]) => lower.startsWith(start, open))
    const close = skipped ? lower.indexOf(skipped[1], open) : html.indexOf('>', open)
    if (close === -1) break // what is never closed is no text
    pieces.push(/^<(?:br|p|div|li|tr|h[1-6])\b/i.test(html.slice(open, open + 5)) ? '\n' : ' ')
    at = close + (skipped ? skipped[1].length : 1)
  }
  return entities(pieces.join(''))
    .replace(/[ \t]+/g, ' ')
    .replace(/\s*\n\s*/g, '\n')
    .trim()
}
const SKIPPED = [
  ['<!--', '-->'],
  ['<script', '</script>'],
  ['<style', '</style>'],
  ['<noscript', '</noscript>'],
  ['<template', '</template>']
] as const

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }
const entities = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,6}));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole
    const code = decimal === undefined ? parseInt(hex ?? '', 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })

/** How deep elements stand in each other, at a glance. */
function depthOf(html: string): number {
  let depth = 0
  let most = 0
  for (const [, close, name] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)\b/gi)) {
    if (/^(?:br|img|hr|input|meta|link|p|li|td|tr|th|col|source|wbr|area|embed|param|track|base|option|dt|dd)$/i.test(name ?? '')) continue
    depth = close ? Math.max(0, depth - 1) : depth + 1
    if (depth > most) most = depth
  }
  return most
}
