// The embedded engine: a process of its own that loads GGUF files through llama.cpp and speaks Ollama's protocol on a loopback port
// (spec M3). Started by src/main/app/engine-process.ts; ends itself when its parent is gone.
import { availableParallelism } from 'node:os'
import { isObject, type Json, stringIn } from '../../shared/json'

process.on('disconnect', () => process.exit(0))
// Ctrl-C goes to every process of a terminal: when to end is the parent's decision
process.on('SIGINT', () => undefined)

if (process.send === undefined) {
  console.error('The engine is started by Tau; it cannot be run alone.')
  process.exit(2)
}
process.once('message', (config) => {
  void start(isObject(config) ? config : {}).then(report, (cause: unknown) => {
    report({ type: 'failed', message: cause instanceof Error ? cause.message : String(cause) })
  })
})
// the parent may have gone while this file was being loaded
if (!process.connected) process.exit(0)

async function start(config: Json): Promise<Json> {
  const modelsFolder = stringIn(config, 'modelsFolder')
  const token = stringIn(config, 'token')
  if (modelsFolder === undefined || token === undefined || token === '') throw new Error('the start message is not complete')
  // loaded late: a missing binary is then a message to the parent, not a crash
  const [{ getLlama, LlamaLogLevel }, { createLane }, { createRuntime }, { startServer }, { createWeights }] = await Promise.all([
    import('node-llama-cpp'),
    import('./lane'),
    import('./runtime'),
    import('./server'),
    import('./weights')
  ])
  // one core is left for the window and the tools: on a busy two-core machine two threads collapse
  const threads = Math.max(1, availableParallelism() - 1)
  let complaint = ''
  const llama = await getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    progressLogs: false,
    maxThreads: threads,
    logLevel: LlamaLogLevel.error,
    logger: (_level, message) => {
      complaint = message.trim() || complaint
    }
  })
  const takeComplaint = (): string => {
    const taken = complaint
    complaint = ''
    return taken
  }
  const lane = createLane()
  const runtime = createRuntime({
    llama,
    threads,
    takeComplaint,
    onIdle: () => {
      if (lane.busy() === 0) void lane.run(() => runtime.unload(), new AbortController().signal)
    }
  })
  const { port } = await startServer({ weights: createWeights(modelsFolder), runtime, lane }, token)
  return { type: 'ready', port }
}

function report(message: Json): void {
  process.send?.(message)
}
