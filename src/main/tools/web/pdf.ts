// The text of a PDF. The reader is large and seldom needed, so it is loaded when it is.

/** Pages that are read, and milliseconds for all of them. */
const MAX_PAGES = 500
const LIMIT_MS = 20_000

type PdfText =
  | { readonly ok: true; readonly text: string; readonly pages: number }
  | { readonly ok: false; readonly code: string; readonly reason: string }

/** Never throws. A PDF of pictures only has no text, and says so. */
export async function pdfText(bytes: Uint8Array): Promise<PdfText> {
  try {
    const { getDocumentProxy } = await import('unpdf')
    const document = await getDocumentProxy(new Uint8Array(bytes))
    const until = performance.now() + LIMIT_MS
    const pages: string[] = []
    for (let n = 1; n <= Math.min(document.numPages, MAX_PAGES) && performance.now() < until; n++) {
      const { items } = await (await document.getPage(n)).getTextContent()
      const text = items.map((i) => ('str' in i ? i.str + (i.hasEOL ? '\n' : '') : '')).join('')
      pages.push(`--- page ${String(n)} ---\n${text.trim()}`)
    }
    const left = document.numPages - pages.length
    if (left > 0) pages.push(`[${String(left)} more pages were not read]`)
    const empty = pages.every((p) => p.split('\n').length === 1 || p.endsWith('---\n'))
    if (empty) return { ok: false, code: 'no_text', reason: 'this PDF has no text (scanned pages, perhaps).' }
    return { ok: true, text: pages.join('\n'), pages: document.numPages }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { ok: false, code: 'bad_pdf', reason: `this PDF could not be read (${why.slice(0, 200)}).` }
  }
}
