// Keeps the embedded engine: starts its process when the first request needs it, ends it when it is idle and when Tau ends, and tells the
// truth when it dies (spec M3). The process is this very executable: Node as it is, Electron as Node.
import { fork, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { EngineState, ModelInfo } from '../../shared/contract'
import type { Fault } from '../../shared/message'
import { isObject } from '../../shared/json'
import { createGgufLister, type GgufFile } from '../models/gguf'
import type { Model, ModelEvent, ModelFault, Provider, StreamFn } from '../models/model'
import { createChat } from '../models/ollama/chat'
import { createFault } from '../models/ollama/errors'
import type { Endpoint, Result } from '../models/ollama/http'
import { windowOf } from '../models/ollama/provider'
import { STARTER_LIMITS, STARTER_NAME } from '../models/starter/spec'

export interface EngineOptions {
  /** The built program (`engine.js`). */
  readonly entry: string
  /** Folder of GGUF files; it need not exist yet. */
  readonly modelsFolder: string
  /** Milliseconds without a request after which the process ends. */
  readonly idleMs?: number
  readonly onState?: (state: EngineState) => void
}

export interface Engine {
  readonly state: () => EngineState
  /** Starts the process if need be; one start at a time. */
  connect(): Promise<Result<Endpoint>>
  /** Ends the process; the next request starts it again. Resolves when it is gone. */
  stop(): Promise<void>
  /** Models of the folder; listing them starts nothing. */
  readonly provider: Provider
  /** Process id while it runs. */
  readonly pid: () => number | undefined
}

export function createEngine({ entry, modelsFolder, idleMs = 600_000, onState }: EngineOptions): Engine {
  const listFiles = createGgufLister(modelsFolder)
  let state: EngineState = { state: 'stopped' }
  let running: Running | undefined
  /** The process that was started last, dead or alive. */
  let latest: Running | undefined
  let starting: Promise<Result<Endpoint>> | undefined
  let requests = 0
  let clock: NodeJS.Timeout | undefined

  const enter = (next: EngineState): void => {
    state = next
    onState?.(next)
  }
  const start = async (): Promise<Result<Endpoint>> => {
    enter({ state: 'starting' })
    const begun = startProcess(entry, modelsFolder)
    running = latest = begun
    void begun.gone.then((end) => {
      if (running === begun) running = undefined
      // a process that never got ready is reported by `ready`
      if (begun.stopped) enter({ state: 'stopped' })
      else if (state.state === 'running')
        enter({ state: 'crashed', error: { code: 'engine_crashed', message: `The engine ended unexpectedly (${end}).` } })
    })
    const ready = await begun.ready
    if (begun.stopped) return { ok: false, error: STOPPED }
    if (ready.ok) enter({ state: 'running' })
    else enter({ state: 'unavailable', error: { code: ready.error.code, message: ready.error.message } })
    return ready
  }
  const connect = (): Promise<Result<Endpoint>> => {
    if (!running) starting = start()
    return starting ?? start()
  }
  const stop = async (): Promise<void> => {
    clearTimeout(clock)
    const old = running
    if (!old) return
    running = undefined
    await old.stop()
  }

  /** Counts requests for the idle clock, and names the death of the process for what it is. */
  const watched = (name: string, stream: StreamFn): StreamFn =>
    async function* (request, signal) {
      clearTimeout(clock)
      requests++
      try {
        for await (const event of stream(request, signal)) {
          if (event.type === 'error') yield { type: 'error', error: await explain(event.error, latest) }
          else yield event
          if (event.type === 'phase' && event.phase.phase === 'queued' && state.state !== 'running') yield LOADING
          if (event.type === 'phase' && event.phase.phase === 'writing' && state.state === 'running')
            enter({ state: 'running', model: name })
        }
      } finally {
        requests--
        if (requests === 0) clock = setTimeout(() => void stop(), idleMs).unref()
      }
    }

  const open = (file: GgufFile): Model => {
    const limits = file.name === STARTER_NAME ? STARTER_LIMITS : undefined
    const contextWindow = windowOf(file.header?.contextLength, limits?.window ?? 8_192)
    const stream = createChat({
      model: file.name,
      window: contextWindow,
      tools: file.tools,
      size: file.size,
      phases: 'told',
      connect,
      ...(limits && { maxOutput: limits.maxOutput })
    })
    return { info: toInfo(file), contextWindow, stream: watched(file.name, stream) }
  }

  return {
    state: () => state,
    pid: () => running?.child.pid,
    connect,
    stop,
    provider: {
      source: 'engine',
      async list() {
        return (await listFiles()).map(toInfo)
      },
      async open(name) {
        const file = (await listFiles()).find((f) => f.name === name)
        if (!file) return { ok: false, error: { code: 'model_missing', message: `There is no file ${name}.gguf in ${modelsFolder}.` } }
        return file.header ? { ok: true, model: open(file) } : { ok: false, error: badWeights(name) }
      }
    }
  }
}

interface Running {
  readonly child: ChildProcess
  /** Set before it is ended on purpose. */
  stopped: boolean
  readonly ready: Promise<Result<Endpoint>>
  /** How it ended. */
  readonly gone: Promise<string>
  stop(): Promise<void>
}

const START_LIMIT_MS = 60_000

function startProcess(entry: string, modelsFolder: string): Running {
  const token = randomBytes(24).toString('base64url')
  const child = fork(entry, [], {
    execPath: process.execPath,
    execArgv: [],
    env: { ...pick(process.env, ['PATH', 'HOME', 'LANG', 'TMPDIR', 'TEMP', 'SystemRoot']), ELECTRON_RUN_AS_NODE: '1' },
    serialization: 'advanced',
    // what a command line prints belongs to its caller: nothing of the engine goes there
    stdio: ['ignore', 'ignore', 'inherit', 'ipc']
  })
  const kill = (): void => {
    child.kill('SIGKILL')
  }
  // it ends by itself when its parent is gone; this covers a process that hangs in native code
  process.once('exit', kill)
  const gone = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      process.off('exit', kill)
      resolve(signal ?? `exit code ${String(code)}`)
    })
    child.once('error', (cause) => {
      process.off('exit', kill)
      resolve(cause.message)
    })
  })
  const running: Running = {
    child,
    stopped: false,
    gone,
    ready: waitReady(child, gone, token),
    async stop() {
      running.stopped = true
      // whoever waits for the end must live to see it
      child.ref()
      kill()
      await gone
    }
  }
  child.send({ modelsFolder, token }, () => undefined)
  return running
}

async function waitReady(child: ChildProcess, gone: Promise<string>, token: string): Promise<Result<Endpoint>> {
  const said = new Promise<unknown>((resolve) => child.once('message', resolve))
  const late = Promise.withResolvers<string>()
  const timer = setTimeout(() => {
    late.resolve(`no sign of life in ${String(START_LIMIT_MS / 1000)} s`)
  }, START_LIMIT_MS)
  const first = await Promise.race([said, gone, late.promise])
  clearTimeout(timer)
  if (isObject(first) && first['type'] === 'ready' && typeof first['port'] === 'number') {
    // a waiting engine must not keep a command line from ending; open connections do
    child.unref()
    child.channel?.unref()
    return { ok: true, value: { baseUrl: `http://127.0.0.1:${String(first['port'])}`, token } }
  }
  const why = isObject(first) ? String(first['message']) : String(first)
  child.kill('SIGKILL')
  return { ok: false, error: createFault('engine_unavailable', `The engine cannot start on this machine: ${why}`, false) }
}

const STOPPED: ModelFault = createFault('engine_stopped', 'The engine was stopped. Send the message again to start it.', false)
const LOADING: ModelEvent = { type: 'phase', phase: { phase: 'loading' } }

/** A broken connection may mean that the process died: the system tells a moment later. */
async function explain(error: ModelFault, process: Running | undefined): Promise<ModelFault> {
  if (!['incomplete_stream', 'crashed', 'unreachable'].includes(error.code)) return error
  if (!process) return error
  const wait = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => {
    wait.resolve(undefined)
  }, 500)
  const end = await Promise.race([process.gone, wait.promise])
  clearTimeout(timer)
  if (end === undefined) return error
  if (process.stopped) return STOPPED
  return createFault('engine_crashed', `The engine ended in the middle of its work (${end}). Try again: it starts anew.`, error.retryable)
}

function toInfo(file: GgufFile): ModelInfo {
  const base = { id: `engine:${file.name}`, name: file.name, source: 'engine' as const, size: file.size, tools: file.tools }
  if (!file.header) return { ...base, ready: false, fault: badWeights(file.name) }
  const { contextLength } = file.header
  return { ...base, ready: true, ...(contextLength !== undefined && { contextLength }) }
}

const badWeights = (name: string): Fault => ({
  code: 'bad_weights',
  message: `${name}.gguf is damaged or no model file. Fetch it again, or remove it.`
})

const pick = (from: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv =>
  Object.fromEntries(names.filter((n) => from[n] !== undefined).map((n) => [n, from[n]]))
