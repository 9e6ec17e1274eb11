import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { PreviewResult } from '../../../src/main/loop/tool'
import { freshFolder } from '../../support/folders'
import { toolBox } from '../../support/tools'

const box = toolBox()
const use: typeof box.use = (...args) => box.use(...args)
const preview = (args: object, workspace: string): Promise<PreviewResult> => box.preview('write_file', args, workspace)

describe('read_file', () => {
  it('reads a file, from a line on, and says how to get the rest', async () => {
    const ws = freshFolder()
    writeFileSync(join(ws, 'a.txt'), Array.from({ length: 3_000 }, (_, i) => `line ${String(i + 1)}`).join('\n'))
    const head = await use('read_file', { path: 'a.txt' }, ws)
    expect(head.text.split('\n')).toHaveLength(2_001)
    expect(head.text).toMatch(/\nline 2000\n\[there is more: 3000 lines in all; read on with offset 2001\]$/)
    expect((await use('read_file', { path: 'a.txt', offset: 2_999 }, ws)).text).toBe('line 2999\nline 3000')
    expect((await use('read_file', { path: 'a.txt', offset: 2, limit: 2 }, ws)).text).toBe(
      'line 2\nline 3\n[there is more: 3000 lines in all; read on with offset 4]'
    )
    expect((await use('read_file', { path: 'a.txt', offset: 3_001 }, ws)).code).toBe('out_of_range')
  })

  it('cuts by bytes too, keeps characters whole, and never holds a giant line', async () => {
    const ws = freshFolder()
    writeFileSync(join(ws, 'wide.txt'), '你好\n'.repeat(20_000))
    writeFileSync(join(ws, 'giant.txt'), 'x'.repeat(30_000_000))
    const wide = await use('read_file', { path: 'wide.txt', limit: 2_000 }, ws)
    expect(Buffer.byteLength(wide.text)).toBeLessThan(51_000)
    expect(wide.text).not.toContain('\ufffd')
    expect((await use('read_file', { path: 'giant.txt' }, ws)).text.length).toBeLessThan(60_000)
  })

  it.each([
    ['a missing file', 'nope.txt', 'not_found'],
    ['a folder', 'sub', 'is_directory'],
    ['a binary file', 'bin', 'binary'],
    ['a pipe', 'pipe', 'not_a_file'],
    ['an empty file', 'empty', 'ok']
  ])('says what %s is', async (_what, path, code) => {
    const ws = freshFolder()
    mkdirSync(join(ws, 'sub'))
    writeFileSync(join(ws, 'bin'), Buffer.from([1, 0, 2]))
    writeFileSync(join(ws, 'empty'), '')
    if (process.platform !== 'win32') execFileSync('mkfifo', [join(ws, 'pipe')])
    expect((await use('read_file', { path }, ws)).code).toBe(code)
  })
})

describe('the workspace', () => {
  it.each(['../secret', 'out/secret', '/etc/passwd', 'sub/../../secret', 'dangling', 'fileout'])('cannot be left by %s', async (path) => {
    const ws = freshFolder()
    const outside = freshFolder('outside')
    writeFileSync(join(outside, 'secret'), 'secret')
    mkdirSync(join(ws, 'sub'))
    symlinkSync(outside, join(ws, 'out'))
    symlinkSync(join(outside, 'new'), join(ws, 'dangling'))
    symlinkSync(join(outside, 'secret'), join(ws, 'fileout'))
    for (const [tool, args] of [
      ['read_file', { path }] as const,
      ['list_dir', { path }] as const,
      ['write_file', { path, content: 'x' }] as const
    ]) {
      expect((await use(tool, args, ws)).code, tool).toBe('outside_workspace')
    }
    expect(readdirSync(outside)).toEqual(['secret'])
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret')
  })

  it('may hold links that stay inside, and names with odd characters', async () => {
    const ws = freshFolder()
    writeFileSync(join(ws, 'a b\n\u001b[31m.txt'), 'odd')
    symlinkSync(join(ws, 'a b\n\u001b[31m.txt'), join(ws, 'link'))
    expect((await use('read_file', { path: 'link' }, ws)).text).toBe('odd')
    expect((await use('list_dir', {}, ws)).text).toContain('a b\\n\\u001b[31m.txt')
  })

  it('may itself be reached by a link', async () => {
    const real = freshFolder()
    const link = join(freshFolder(), 'link')
    symlinkSync(real, link)
    expect((await use('write_file', { path: 'new/x.txt', content: 'hi' }, link)).code).toBe('ok')
    expect(readFileSync(join(real, 'new/x.txt'), 'utf8')).toBe('hi')
  })
})

describe('list_dir', () => {
  it('lists folders first and says when it is empty, missing or a file', async () => {
    const ws = freshFolder()
    expect((await use('list_dir', {}, ws)).text).toBe('(empty folder)')
    writeFileSync(join(ws, 'a'), '12345')
    mkdirSync(join(ws, 'z'))
    expect((await use('list_dir', { path: '.' }, ws)).text).toBe('z/\na  5 bytes')
    expect((await use('list_dir', { path: 'a' }, ws)).code).toBe('not_a_folder')
    expect((await use('list_dir', { path: 'b' }, ws)).code).toBe('not_found')
  })

  it('shows at most 500 entries and counts the rest', async () => {
    const ws = freshFolder()
    for (let i = 0; i < 510; i++) writeFileSync(join(ws, `f${String(i)}`), '')
    expect((await use('list_dir', {}, ws)).text).toMatch(/\[10 more are not shown/)
  })
})

describe('write_file', () => {
  it('shows the exact path and difference before, and keeps the file mode', async () => {
    const ws = freshFolder()
    writeFileSync(join(ws, 'a.sh'), 'one\ntwo\n')
    chmodSync(join(ws, 'a.sh'), 0o750)
    const args = { path: 'a.sh', content: 'one\n2\n' }
    expect(await preview(args, ws)).toMatchObject({
      preview: {
        kind: 'file',
        path: join(realpathSync(ws), 'a.sh'),
        change: 'replace',
        diff: '@@ -1,2 +1,2 @@\n one\n-two\n+2',
        added: 1,
        removed: 1
      }
    })
    expect(await use('write_file', args, ws)).toEqual({ code: 'ok', text: 'Replaced a.sh (6 bytes).' })
    expect(readFileSync(join(ws, 'a.sh'), 'utf8')).toBe('one\n2\n')
    expect(statSync(join(ws, 'a.sh')).mode & 0o777).toBe(0o750)
    expect(readdirSync(ws)).toEqual(['a.sh'])
  })

  it('writes nothing when the file changed after the person saw the difference', async () => {
    const ws = freshFolder()
    const args = { path: 'new.txt', content: 'mine' }
    const made = await preview(args, ws)
    if ('refuse' in made) throw new Error('refused')
    writeFileSync(join(ws, 'new.txt'), 'theirs')
    expect((await use('write_file', args, ws, made.basis)).code).toBe('changed_since_shown')
    expect(readFileSync(join(ws, 'new.txt'), 'utf8')).toBe('theirs')
  })

  it('is not even asked about when it leads outside', async () => {
    expect(await preview({ path: '../x', content: '' }, freshFolder())).toMatchObject({ refuse: { code: 'outside_workspace' } })
  })
})
