import { fork } from 'node:child_process'
import { copyFile, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { EngineState } from '../../../src/shared/contract'
import type { Engine } from '../../../src/main/app/engine-process'
import type { Model } from '../../../src/main/models/model'
import { ask, collect, tool } from '../models/fake-ollama'
import { createTestEngine, ENTRY, TINY } from './kit'

// starting a process takes seconds on a busy machine
vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 })

const never = new AbortController().signal
let engine: Engine
afterEach(() => engine.stop())

async function open(name: string): Promise<Model> {
  const opened = await engine.provider.open(name)
  if (!opened.ok) throw new Error(opened.error.message)
  return opened.model
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('the engine as a provider', () => {
  it('lists and opens models without starting the process', async () => {
    engine = createTestEngine()
    const listed = await engine.provider.list()
    expect(listed).toContainEqual({
      id: 'engine:tiny-tau',
      name: 'tiny-tau',
      source: 'engine',
      size: 540_032,
      contextLength: 32_768,
      tools: true,
      ready: true
    })
    expect((await open('tiny-random-512')).contextWindow).toBe(512)
    expect((await open('tiny-tau')).contextWindow).toBe(8_192)
    expect(await engine.provider.open('none')).toMatchObject({ ok: false, error: { code: 'model_missing' } })
    expect([engine.state().state, engine.pid()]).toEqual(['stopped', undefined])
  })

  it('starts with the first request, tells what it does, and runs a tool round', async () => {
    const states: EngineState[] = []
    engine = createTestEngine({ onState: (s) => states.push(s) })
    const model = await open('tiny-tau')
    const tools = [tool('list_dir'), tool('read_file'), tool('write_file')]
    const first = await collect(model.stream(ask('please write a file', { tools }), never))
    expect([...new Set(first.phases)]).toEqual(['queued', 'loading', 'reading', 'writing'])
    expect(first.calls).toEqual([
      { id: expect.stringMatching(/^call_/) as unknown, name: 'write_file', arguments: '{"path":"hello.txt","content":"hi from tau\\n"}' }
    ])
    expect(first.end?.stopReason).toBe('calls')
    expect(first.end?.usage.inputTokens).toBeGreaterThan(100)
    expect(states.map((s) => s.state)).toEqual(['starting', 'running', 'running'])
    expect(engine.state()).toEqual({ state: 'running', model: 'tiny-tau' })
  })

  it('starts one process for many requests', async () => {
    engine = createTestEngine()
    const [a, b] = await Promise.all([engine.connect(), engine.connect()])
    expect(a).toEqual(b)
  })

  it('names a model file that cannot be loaded', async () => {
    const modelsFolder = await mkdtemp(join(tmpdir(), 'tau-engine-'))
    const whole = await readFile(join(TINY, 'tiny-tau.gguf'))
    await writeFile(join(modelsFolder, 'half.gguf'), whole.subarray(0, 200_000))
    await writeFile(join(modelsFolder, 'none.gguf'), 'nothing')
    engine = createTestEngine({ modelsFolder })
    expect(await engine.provider.open('none')).toMatchObject({ ok: false, error: { code: 'bad_weights' } })
    expect((await engine.provider.list()).map((m) => [m.name, m.ready])).toEqual([
      ['half', true],
      ['none', false]
    ])
    const told = await collect((await open('half')).stream(ask('hi'), never))
    expect(told.error).toMatchObject({ code: 'bad_weights', retryable: false })
    await copyFile(join(TINY, 'tiny-tau.gguf'), join(modelsFolder, 'half.gguf'))
    expect((await collect((await open('half')).stream(ask('hi'), never))).text).toContain('Hello')
  })

  it('says what is too long for the window', async () => {
    engine = createTestEngine()
    const told = await collect((await open('tiny-random-512')).stream(ask('word '.repeat(900)), never))
    expect(told.error).toMatchObject({ code: 'context_overflow', retryable: false })
  })

  it('ends an answer at once when it is aborted, and takes the next', async () => {
    engine = createTestEngine()
    const model = await open('tiny-tau')
    const stop = new AbortController()
    let at = 0
    const told = await collect(model.stream(ask('loop', { maxOutputTokens: 8_000 }), stop.signal), (event) => {
      if (event.type !== 'text' || at > 0) return
      at = performance.now()
      stop.abort()
    })
    expect(told.error?.code).toBe('aborted')
    expect(performance.now() - at).toBeLessThan(50)
    expect((await collect(model.stream(ask('hi'), never))).text).toContain('Hello')
  })
})

describe('the process', () => {
  it('may be killed in mid-answer: an honest error, and the next request has a fresh one', async () => {
    const states: string[] = []
    engine = createTestEngine({ onState: (s) => states.push(s.state) })
    const model = await open('tiny-tau')
    let killed = 0
    const told = await collect(model.stream(ask('loop', { maxOutputTokens: 8_000 }), never), (event) => {
      if (event.type !== 'text' || killed > 0) return
      killed = engine.pid() ?? 0
      process.kill(killed, 'SIGKILL')
    })
    expect(told.text).toContain('round')
    expect(told.error).toMatchObject({ code: 'engine_crashed', retryable: true })
    expect(engine.state()).toMatchObject({ state: 'crashed', error: { code: 'engine_crashed' } })
    expect((await collect(model.stream(ask('hi'), never))).text).toContain('Hello')
    expect(engine.pid()).not.toBe(killed)
    expect(states).toEqual(['starting', 'running', 'running', 'crashed', 'starting', 'running', 'running'])
  })

  it('is stopped on purpose: the answer that was going on says so', async () => {
    engine = createTestEngine()
    const model = await open('tiny-tau')
    let stopped = false
    const told = await collect(model.stream(ask('loop', { maxOutputTokens: 8_000 }), never), (event) => {
      if (event.type === 'text' && !stopped) void engine.stop()
      stopped = event.type === 'text'
    })
    expect(told.error?.code).toBe('engine_stopped')
    expect(engine.state()).toEqual({ state: 'stopped' })
  })

  it('ends when nobody asked for a while, and comes back', async () => {
    engine = createTestEngine({ idleMs: 200 })
    const model = await open('tiny-tau')
    await collect(model.stream(ask('hi'), never))
    const pid = engine.pid() ?? 0
    await expect.poll(() => isAlive(pid), { timeout: 3_000 }).toBe(false)
    expect(engine.state()).toEqual({ state: 'stopped' })
    expect((await collect(model.stream(ask('hi'), never))).text).toContain('Hello')
  })

  it('never outlives its parent, however that ends', async () => {
    engine = createTestEngine()
    const folder = await mkdtemp(join(tmpdir(), 'tau-parent-'))
    const parent = join(folder, 'parent.mjs')
    await writeFile(
      parent,
      `import { fork } from 'node:child_process'
       const child = fork(${JSON.stringify(ENTRY)}, [], { execArgv: [], serialization: 'advanced' })
       child.on('message', () => process.send(child.pid))
       child.send({ modelsFolder: ${JSON.stringify(TINY)}, token: 't' })`
    )
    const killed = fork(parent, [], { execArgv: [] })
    const pid = await new Promise<number>((resolve) =>
      killed.once('message', (m) => {
        resolve(Number(m))
      })
    )
    expect(isAlive(pid)).toBe(true)
    killed.kill('SIGKILL')
    await expect.poll(() => isAlive(pid), { timeout: 3_000 }).toBe(false)
  })

  it('says so when it cannot start at all', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tau-bad-'))
    await writeFile(join(folder, 'engine.mjs'), 'process.exit(7)')
    engine = createTestEngine({ entry: join(folder, 'engine.mjs') })
    const told = await collect((await open('tiny-tau')).stream(ask('hi'), never))
    expect(told.error).toMatchObject({ code: 'engine_unavailable', retryable: false })
    expect(told.error?.message).toContain('exit code 7')
    expect(engine.state()).toMatchObject({ state: 'unavailable', error: { code: 'engine_unavailable' } })
  })
})
