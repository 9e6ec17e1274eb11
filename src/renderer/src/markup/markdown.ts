// Markdown of an answer as blocks of clean HTML. While text streams only its last two blocks are read again: the others are settled, so the
// page keeps their elements, and with them the reader's selection.
import { Lexer, Parser, Renderer, type Token, type Tokens, type TokensList } from 'marked'
import remend from 'remend'
import { escapeHtml, highlight } from './highlight'
import { sanitize } from './sanitize'

export interface Block {
  readonly html: string
  /** Length of its source. */
  readonly size: number
}

export interface Rendered {
  readonly blocks: readonly Block[]
  /** Characters of source that are not shown because of the limit. */
  readonly hidden: number
}

export interface Options {
  /** More text is to come: the last block is closed for now, not for good. */
  readonly open: boolean
  /** Blocks are drawn until their sources are this long together. */
  readonly limit: number
  /** Label of the button that copies a block of code. */
  readonly copy: string
}

/** Markdown longer than this in one block is shown as it is: no person wrote it, and reading it costs too much. */
const MOST_IN_BLOCK = 30_000
/** Code that is still being written is coloured again for every frame; longer code waits for its end. */
const MOST_OPEN_CODE = 10_000

const SIMPLE_TAG = /&lt;(\/?(?:b|br|code|del|em|hr|i|ins|kbd|mark|s|small|strong|sub|sup|u)\s*\/?)&gt;/gi
/** Tags that only hold others together; dropping them loses no words. */
const SHELL_TAG = /&lt;\/?(?:center|details|div|p|span|summary)\s*&gt;/gi

class PlainRenderer extends Renderer {
  override code({ text, lang }: Tokens.Code): string {
    const language = languageOf(lang)
    return `<pre><code class="hljs language-${escapeHtml(language || 'text')}">${highlight(text, language)}</code></pre>`
  }
  override heading({ tokens, depth }: Tokens.Heading): string {
    const level = String(Math.max(2, depth))
    return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`
  }
  override table(token: Tokens.Table): string {
    return `<div class="md-table">${super.table(token)}</div>`
  }
  override checkbox({ checked }: Tokens.Checkbox): string {
    return `<span class="md-task">${checked ? '☑' : '☐'}</span>`
  }
  /** Only bare, simple tags work; every other one is shown as the text that it is, so no attribute reaches a parser. */
  override html({ text, block }: Tokens.HTML | Tokens.Tag): string {
    const inert = text.replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll(SIMPLE_TAG, '<$1>').replaceAll(SHELL_TAG, '')
    return block && !/<\w/.test(inert) ? `<p class="md-plain">${inert.trim()}</p>` : inert
  }
  /** Pictures are not fetched: they would tell a stranger that the answer was read. */
  override image({ href, text }: Tokens.Image): string {
    return `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>`
  }
}

const languageOf = (lang: string | undefined): string => (/^[\w+#.-]+/.exec(lang ?? '')?.[0] ?? '').toLowerCase()

const parser = new Parser({ gfm: true, renderer: new PlainRenderer() })

export class MarkdownStream {
  #settled: Block[] = []
  /** How much of the text the settled blocks cover. */
  #offset = 0
  #seen = ''
  #known = new Map<string, string>()

  /** Blocks of `text`. Cheap when `text` continues the text of the last call; a finished text is read once more as a whole. */
  update(text: string, options: Options): Rendered {
    const source = text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text
    if (!options.open || !source.startsWith(this.#seen)) this.#restart()
    this.#seen = options.open ? source.slice(0, this.#offset) : ''
    const list = lex(source.slice(this.#offset))
    const solid = list.filter((t) => t.type !== 'space')
    if (options.open) this.#settle(list, solid, options)
    const blocks = [...this.#settled]
    let shown = this.#offset
    const tail = solid.slice(options.open ? -2 : 0)
    for (const [i, token] of tail.entries()) {
      if (shown >= options.limit) break
      blocks.push(this.#block(token, list.links, options, options.open && i === tail.length - 1))
      shown += token.raw.length
    }
    this.#seen = options.open ? source.slice(0, this.#offset) : ''
    return { blocks, hidden: shown >= options.limit ? source.length - shown : 0 }
  }

  #restart(): void {
    this.#settled = []
    this.#offset = 0
  }

  /** Settles all but the last two blocks: what comes can still change those, but none before them. */
  #settle(list: readonly Token[], solid: readonly Token[], options: Options): void {
    const firstOpen = solid.at(-2)
    if (solid.length < 3 || !firstOpen) return
    for (const token of list) {
      if (token === firstOpen) return
      this.#offset += token.raw.length
      if (token.type !== 'space') this.#settled.push(this.#block(token, {}, options, false))
    }
  }

  #block(token: Token, links: TokensList['links'], options: Options, open: boolean): Block {
    const size = token.raw.length
    if (open || Object.keys(links).length > 0) return { html: htmlOf(token, links, options, open), size }
    const known = this.#known.get(token.raw)
    const html = known ?? htmlOf(token, links, options, false)
    if (known === undefined) this.#known.set(token.raw, html)
    return { html, size }
  }
}

function lex(source: string, links: TokensList['links'] = {}): TokensList {
  const lexer = new Lexer({ gfm: true })
  Object.assign(lexer.tokens.links, links)
  return lexer.lex(source)
}

function htmlOf(token: Token, links: TokensList['links'], { copy }: Options, open: boolean): string {
  if (token.type === 'code') return codeBlock(token as Tokens.Code, copy, open)
  if (token.raw.length > MOST_IN_BLOCK) return `<p class="md-plain">${escapeHtml(token.raw.trimEnd())}</p>`
  const html = parser.parse(open ? lex(remend(token.raw), links) : [token])
  return html.includes('<pre') ? framed(sanitize(html), copy) : sanitize(html)
}

/** Built here from escaped text, so it does not pass the sanitiser. */
function codeBlock({ text, lang }: Tokens.Code, copy: string, open: boolean): string {
  const language = languageOf(lang)
  const plain = open && text.length > MOST_OPEN_CODE
  return frame(escapeHtml(language), `<code class="hljs">${plain ? escapeHtml(text) : highlight(text, language)}</code>`, copy)
}

const frame = (title: string, code: string, copy: string): string =>
  `<div class="code"><div class="code-head"><span>${title}</span><button type="button" class="code-copy" data-copy>${escapeHtml(copy)}</button></div><pre tabindex="0">${code}</pre></div>`

/** Gives code inside of lists and quotes its frame; works on elements, because markup in text must stay text. */
function framed(html: string, copy: string): string {
  const page = new DOMParser().parseFromString(html, 'text/html')
  for (const pre of page.querySelectorAll('pre')) {
    const language = /language-(\S+)/.exec(pre.querySelector('code')?.className ?? '')?.[1] ?? ''
    pre.outerHTML = frame(escapeHtml(language === 'text' ? '' : language), pre.innerHTML, copy)
  }
  return page.body.innerHTML
}

const MOST_KEPT = 400
const finished = new Map<string, Rendered>()

/** Blocks of a text that will not change, kept for the next time the list scrolls here. */
export function renderFinished(text: string, limit: number, copy: string): Rendered {
  const key = `${String(limit)} ${copy} ${text}`
  const kept = finished.get(key)
  const rendered = kept ?? new MarkdownStream().update(text, { open: false, limit, copy })
  finished.delete(key)
  finished.set(key, rendered)
  if (finished.size > MOST_KEPT) for (const oldest of [...finished.keys()].slice(0, 50)) finished.delete(oldest)
  return rendered
}
