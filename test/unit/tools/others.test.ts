// The tools beside reading and writing: search, move, bin, pages, questions, references.
import { existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ToolOutput } from '../../../src/main/loop/tool'
import { fetchUrlTool } from '../../../src/main/tools/web/fetch-url'
import { freshFolder } from '../../support/folders'
import { toolBox } from '../../support/tools'

const box = toolBox()
const use: typeof box.use = (...args) => box.use(...args)

function folder(files: Readonly<Record<string, string>>): string {
  const ws = realpathSync(freshFolder('tools'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(ws, name, '..'), { recursive: true })
    writeFileSync(join(ws, name), text)
  }
  return ws
}

describe('search_text', () => {
  const ws = folder({
    'a.ts': 'one\nneedle here\n',
    'src/b.ts': 'needle (again)\n',
    '.gitignore': 'out\n',
    'out/c.ts': 'needle\n',
    '.env': 'KEY=needle\n',
    'server.key': 'needle\n'
  })
  it('shows lines by file, and passes over what is ignored, hidden or secret', async () => {
    const { code, text } = await use('search_text', { pattern: 'needle' }, ws)
    expect(code).toBe('ok')
    expect(text).toMatch(/^a\.ts\n2: needle here\n\nsrc\/b\.ts\n1: needle \(again\)\n\[1 files that hold secrets/)
  })
  it('does not come to a secret by asking for it by name', async () => {
    expect((await use('search_text', { pattern: 'needle', glob: '.env' }, ws)).text).not.toContain('KEY')
    expect((await use('search_text', { pattern: 'KEY', glob: '.e*' }, ws)).text).toContain('files that hold secrets')
    const access = { network: false, reads: [join(ws, '.env')], writes: [], unsandboxed: false }
    expect((await use('search_text', { pattern: 'KEY', path: '.env' }, ws, undefined, { access })).text).toContain('KEY=needle')
  })
  it('takes text as it is, and says what is wrong with a pattern', async () => {
    expect((await use('search_text', { pattern: '(again', literal: true }, ws)).text).toContain('src/b.ts')
    expect((await use('search_text', { pattern: '(again' }, ws)).code).toBe('bad_pattern')
    expect((await use('search_text', { pattern: 'nowhere' }, ws)).text).toContain('Nothing in . matches')
    expect((await use('search_text', { pattern: 'x', path: '..' }, ws)).code).toBe('outside_workspace')
    expect((await use('search_text', { pattern: '--pre=./x' }, ws)).text).toContain('Nothing in . matches')
  })
})

describe('find_files', () => {
  it('finds names by glob and leaves out what is ignored', async () => {
    const ws = folder({ 'a.ts': '', 'src/b.ts': '', 'src/c.md': '', '.gitignore': 'out\n', 'out/d.ts': '' })
    expect((await use('find_files', { pattern: '*.ts' }, ws)).text.split('\n').sort()).toEqual(['a.ts', 'src/b.ts'])
    expect((await use('find_files', { pattern: '*.ts', all: true }, ws)).text).toContain('out/d.ts')
  })
})

describe('move_file and delete_file', () => {
  it('move and rename, over nothing that is there', async () => {
    const ws = folder({ 'a.txt': 'a', 'b.txt': 'b' })
    expect((await use('move_file', { from: 'a.txt', to: 'new/c.txt' }, ws)).code).toBe('ok')
    expect(readFileSync(join(ws, 'new/c.txt'), 'utf8')).toBe('a')
    expect((await use('move_file', { from: 'new/c.txt', to: 'b.txt' }, ws)).code).not.toBe('ok')
    expect(readFileSync(join(ws, 'b.txt'), 'utf8')).toBe('b')
    expect((await use('move_file', { from: 'b.txt', to: '../b.txt' }, ws)).code).toBe('outside_workspace')
  })
  it('delete a link and not what it leads to', async () => {
    const ws = folder({ 'a.txt': 'a' })
    symlinkSync('a.txt', join(ws, 'link'))
    expect((await use('delete_file', { path: 'link' }, ws)).code).toBe('ok')
    expect([existsSync(join(ws, 'link')), existsSync(join(ws, 'a.txt'))]).toEqual([false, true])
    expect((await use('delete_file', { path: '.' }, ws)).code).toBe('is_workspace')
  })
})

describe('fetch_url', () => {
  let server: Server
  let origin = ''
  const pages: Record<string, RequestListener> = {
    '/page': (_q, r) =>
      r
        .setHeader('content-type', 'text/html')
        .end(
          '<title>T</title><body><script>evil()</script><article><h1>Head</h1><p>Some words that are long enough to be an article, and more of them.</p></article>'
        ),
    '/json': (_q, r) => r.setHeader('content-type', 'application/json').end('{"a":1}'),
    '/hop': (_q, r) => r.writeHead(302, { location: '/json' }).end(),
    '/away': (_q, r) => r.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
    '/file': (_q, r) => r.writeHead(302, { location: 'file:///etc/passwd' }).end(),
    '/loop': (_q, r) => r.writeHead(302, { location: '/loop' }).end(),
    '/bomb': (_q, r) =>
      r.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(60_000_000, 'a'))),
    '/bytes': (_q, r) => r.setHeader('content-type', 'application/octet-stream').end(Buffer.from([0, 1, 2, 0, 255])),
    '/gone': (_q, r) => r.writeHead(404, { 'content-type': 'text/plain' }).end('not here')
  }
  beforeAll(async () => {
    server = createServer((q, r) => (pages[q.url ?? ''] ?? pages['/gone'])?.(q, r))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    origin = `http://pages.example:${String((server.address() as { port: number }).port)}`
  })
  afterAll(() => {
    server.close()
  })
  // the host is taken for a public one, and answered by the server of this test
  const local = toolBox([
    fetchUrlTool((host) =>
      host === 'pages.example' ? Promise.resolve([{ address: '127.0.0.1', family: 4 }]) : Promise.reject(new Error(`asked for ${host}`))
    )
  ])
  const get = (path: string): Promise<ToolOutput> => local.use('fetch_url', { url: origin + path }, '/')

  it('gives the readable text of a page, as text from outside', async () => {
    const page = await get('/page')
    expect(page).toMatchObject({ code: 'ok', foreign: true })
    expect(page.text).toContain('Some words')
    expect(page.text).not.toContain('evil')
    expect((await get('/json')).text).toContain('{"a":1}')
    expect(await get('/gone')).toMatchObject({ code: 'http_404', foreign: true })
    expect((await get('/bytes')).code).toBe('binary')
  })
  it('follows redirects on the same host only, each looked at', async () => {
    expect((await get('/hop')).text).toContain('{"a":1}')
    expect(await get('/away')).toMatchObject({ code: 'redirect', text: expect.stringContaining('169.254.169.254') as string })
    expect((await get('/file')).code).toBe('bad_redirect')
    expect((await get('/loop')).code).toBe('bad_redirect')
  })
  it('reads no more than its limit, however much it unpacks to', async () => {
    const before = process.memoryUsage().rss
    const { text } = await get('/bomb')
    expect(text.length).toBeLessThan(60_000)
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000)
  })
  it.each([
    'http://localhost/',
    'http://127.0.0.1:80/',
    'http://[::1]/',
    'http://10.1.2.3/',
    'http://192.168.0.1/',
    'http://169.254.169.254/',
    'http://0.0.0.0/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://[::ffff:127.0.0.1]/',
    'http://[fd00::1]/',
    'http://100.64.0.1/'
  ])('refuses %s', async (url) => {
    expect((await use('fetch_url', { url }, '/')).code).toBe('private_address')
  })
  it.each(['file:///etc/passwd', 'ftp://a.example', 'http://me:pw@a.example/', 'nothing'])('does not take %s', async (url) => {
    expect((await use('fetch_url', { url }, '/')).code).toBe('bad_url')
  })
})

describe('lookup_reference', () => {
  it('brings back a part of what was cut, by lines and by words', async () => {
    const cut = await use('run_command', { command: 'seq 1 5000' }, folder({}))
    expect((await use('lookup_reference', { ref: cut.ref, offset: 100, limit: 2 }, '/')).text).toMatch(/^100\n101\n\[there is more/)
    expect((await use('lookup_reference', { ref: cut.ref, contains: '4999' }, '/')).text).toBe('4999: 4999')
    for (const ref of ['out_0000000000000000', '../../etc/passwd', 'nothing'])
      expect((await use('lookup_reference', { ref }, '/')).code).toBe('not_found')
  })
})

describe('ask_person', () => {
  it('is a question, and its answer the result', async () => {
    expect(await box.preview('ask_person', { question: 'Which?', choices: ['a', 'b'] }, '/')).toMatchObject({
      preview: { kind: 'question', choices: ['a', 'b'] }
    })
    expect(await use('ask_person', { question: 'Which?' }, '/', 'b')).toEqual({ code: 'ok', text: 'b' })
    expect((await use('ask_person', { question: 'Which?' }, '/')).code).toBe('no_answer')
  })
})
