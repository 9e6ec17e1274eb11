import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MarkdownStream, renderFinished } from '../../src/renderer/src/markup/markdown'

const ALL = { limit: Infinity, copy: 'Copy' }
const whole = (text: string, open = false) => new MarkdownStream().update(text, { ...ALL, open }).blocks.map((b) => b.html)
function page(text: string): HTMLElement {
  const body = document.createElement('div')
  body.innerHTML = whole(text).join('')
  return body
}
const codes = (body: HTMLElement) => [...body.querySelectorAll('pre code')].map((c) => c.textContent)
const FORBIDDEN =
  'script, iframe, object, embed, form, input, textarea, style, img, video, audio, svg, math, link, meta, base, [style], [id], [name], [onerror], [onload], [ontoggle], [onclick], [onbegin], [srcdoc], [src]'

// https://github.com/heshengtao/super-agent-party/issues/882
describe('markup of a model is inert', () => {
  it.each([
    ['Hello <img src=x onerror="window.__pwned=1"> world', ['Hello', '<img src=x onerror="window.__pwned=1">', 'world']],
    ['<svg><animate onbegin="window.__pwned=1" attributeName=x dur=1s></svg>after', ['after']],
    ['<details open ontoggle="window.__pwned=1"><summary>s</summary>x</details>', ['s', 'x']],
    [
      '```html\n<button onclick="window.__pwned=1">x</button>\n```\n\n```\n<form action="https://evil.example"><input name=p></form>\n```',
      ['<button onclick', '<form action']
    ],
    [
      '<style>body{display:none}</style>visible<div style="position:fixed;inset:0" class="fixed inset-0">overlay</div>',
      ['<style>body{display:none}</style>', 'visible', 'overlay']
    ],
    ['- item\n\n  ```js\n  <script>window.__pwned=1</script>\n  ```', ['item', '<script>']],
    ['<b title="<pre>x</pre>" onclick=1>bold</b> and <a href="javascript:window.__pwned=1" name=x>link</a>', ['bold', 'link']],
    ['| a |\n|---|\n| <img src=x onerror=window.__pwned=1> |', ['a']]
  ])('%s', (text, words) => {
    const body = page(text)
    expect(body.querySelectorAll(FORBIDDEN)).toHaveLength(0)
    for (const word of words) expect(body.textContent).toContain(word)
    expect([...body.querySelectorAll('button')].every((b) => b.hasAttribute('data-copy'))).toBe(true)
  })

  it('whatever the pieces, in whatever order', () => {
    const piece = fc.constantFrom(
      '<img src=x onerror=a()>',
      '<',
      '>',
      '"',
      "'",
      '`',
      '```\n',
      '\n\n',
      '<b>',
      '</b>',
      '<pre>',
      '<!--',
      '-->',
      '[x](javascript:a())',
      '![p](http://e/p.png)',
      '<a href="data:text/html,x">',
      '| a |\n|-|\n',
      '- ',
      '> ',
      '<math><mi//xlink:href="data:x">',
      '<svg onload=a()>',
      '&lt;script&gt;',
      'words'
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const body = page(pieces.join(''))
        expect(body.querySelectorAll(FORBIDDEN)).toHaveLength(0)
        for (const a of body.querySelectorAll('a[href]')) expect(a.getAttribute('href')).toMatch(/^(https?:|mailto:)/)
      }),
      { numRuns: 400 }
    )
  })
})

describe('links and pictures', () => {
  it('opens the web and mail only, in another tab, without telling where from', () => {
    const links = [
      ...page('[a](https://example.org) [b](mailto:x@example.org) [c](file:///etc/passwd) [d](javascript:a) [e](/local)').querySelectorAll(
        'a'
      )
    ]
    expect(links.map((a) => a.getAttribute('href'))).toEqual(['https://example.org', 'mailto:x@example.org', null, null, null])
    expect(links.slice(0, 2).map((a) => [a.target, a.rel])).toEqual(Array(2).fill(['_blank', 'noopener noreferrer']))
  })

  it('shows a picture as a link to it', () => {
    expect(page('![a **pixel**](https://evil.example/p.png)').querySelector('a')?.outerHTML).toContain('href="https://evil.example/p.png"')
  })
})

// https://github.com/FiligranHQ/filigran-ui/issues/288
describe('fences', () => {
  it('reads a fence within a longer fence as its content', () => {
    const body = page('````md\n```sh\nls\n```\n````\nafter')
    expect(codes(body)).toEqual(['```sh\nls\n```'])
    expect(body.querySelector('p')?.textContent).toBe('after')
  })

  it('loses no text of a fence within a fence of the same length', () => {
    const { textContent } = page('Here it is:\n\n```markdown\n# Title\n```js\nconst a = 1;\n```\n## More\n```\n\nDone.')
    for (const words of ['# Title', 'const a = 1;', 'More', 'Done.']) expect(textContent).toContain(words)
  })

  it('gives exactly the code, without a line end of its own', () => {
    expect(codes(page('Key:\n\n```text\nk-42\n```'))).toEqual(['k-42'])
  })

  it('keeps a fence that nobody closed to its own message', () => {
    expect(codes(page('```js\nlet x = 1;\n// the stream was cut here'))[0]).toContain('the stream was cut here')
  })

  it('reads tildes, and a fence in a list', () => {
    const body = page('~~~\n```\ninner\n```\n~~~\n- item\n  ```\n  in list\n  ```\n- next')
    expect(codes(body)).toHaveLength(2)
    expect(body.querySelectorAll('li')).toHaveLength(2)
    expect(body.querySelectorAll('.code [data-copy]')).toHaveLength(2)
  })

  it('draws tasks without form elements', () => {
    expect(page('- [x] done\n- [ ] open').textContent).toMatch(/☑\s*done\s*☐\s*open/)
  })
})

describe('streaming', () => {
  const TEXT =
    '# Head\n\nSome **bold** words and a [link](https://example.org).\n\n- one\n- two\n\n  more of two\n\n1. first\n\n```py\nprint(1)\n```\ntail\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n> quote\n\nSetext\n===\n\n    indented\n\n* * *\n\nlast *line*'

  it('is the same as drawing each prefix from nothing', () => {
    const stream = new MarkdownStream()
    for (let i = 1; i <= TEXT.length; i++) {
      const text = TEXT.slice(0, i)
      expect(stream.update(text, { ...ALL, open: true }).blocks.map((b) => b.html)).toEqual(whole(text, true))
    }
    expect(stream.update(TEXT, { ...ALL, open: false }).blocks.map((b) => b.html)).toEqual(whole(TEXT))
  })

  it('is so for any pieces and any cuts', () => {
    const piece = fc.constantFrom(
      'word ',
      '**b** ',
      '`c`',
      '\n',
      '\n\n',
      '- item\n',
      '  - deep\n',
      '1. n\n',
      '```\n',
      '```js\ncode\n',
      '> q\n',
      '# h\n',
      '| a | b |\n|---|---|\n| 1 | 2 |\n',
      '    code\n',
      '<b>x</b>',
      '<div>\n',
      '---\n',
      '===\n',
      '~~~\n',
      '\r\n',
      '\\',
      '*',
      '_',
      '[',
      '](u)',
      '日本語'
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 24 }), fc.array(fc.nat({ max: 12 }), { minLength: 1, maxLength: 8 }), (pieces, steps) => {
        const text = pieces.join('')
        const stream = new MarkdownStream()
        for (let end = 0, i = 0; end < text.length; i++) {
          end = Math.min(text.length, end + 1 + (steps[i % steps.length] ?? 0))
          expect(stream.update(text.slice(0, end), { ...ALL, open: true }).blocks.map((b) => b.html)).toEqual(
            whole(text.slice(0, end), true)
          )
        }
        expect(stream.update(text, { ...ALL, open: false }).blocks.map((b) => b.html)).toEqual(whole(text))
      }),
      { numRuns: 500 }
    )
  })

  it('leaves finished blocks alone: they are the same objects as before', () => {
    const stream = new MarkdownStream()
    const before = stream.update('one\n\ntwo\n\nthree\n\nfo', { ...ALL, open: true }).blocks
    const after = stream.update('one\n\ntwo\n\nthree\n\nfour\n\nfi', { ...ALL, open: true }).blocks
    expect(after[0]).toBe(before[0])
    expect(after[1]).toBe(before[1])
  })

  it('closes what is still open', () => {
    expect(whole('some **bo', true)[0]).toContain('<strong>bo</strong>')
    expect(whole('see [the gui', true)[0]).not.toContain('[')
  })

  it('knows reference links once the text is finished', () => {
    const text = 'see [it][1]\n\nmore\n\nwords\n\n[1]: https://example.org'
    const stream = new MarkdownStream()
    for (let i = 1; i < text.length; i++) stream.update(text.slice(0, i), { ...ALL, open: true })
    expect(stream.update(text, { ...ALL, open: false }).blocks[0]?.html).toContain('href="https://example.org"')
  })
})

describe('very long text', () => {
  const long = Array.from({ length: 4_000 }, (_, i) => `Paragraph ${String(i)} with **some** words.`).join('\n\n')

  it('draws part by part and says how much is left', () => {
    const first = renderFinished(long, 10_000, 'Copy')
    const size = first.blocks.reduce((sum, b) => sum + b.size, 0)
    expect(size).toBeGreaterThanOrEqual(9_000)
    expect(size).toBeLessThan(11_000)
    expect(first.hidden).toBeGreaterThan(long.length - 12_000)
    expect(renderFinished(long, Infinity, 'Copy').hidden).toBe(0)
  })

  it('shows one giant line as it is', () => {
    const line = `<b>${'x'.repeat(200_000)}**`
    const body = page(line)
    expect(body.textContent).toBe(line)
    expect(body.querySelector('b')).toBeNull()
  })
})
