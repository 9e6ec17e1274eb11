// What stands around an effect: an edit of a large file, a look through a large workspace, the queue, and the way of the first progress.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { createQueue } from '../../src/main/loop/queue'
import type { Tool } from '../../src/main/loop/tool'
import { openStore } from '../../src/main/store/store'
import { createUndo } from '../../src/main/undo/undo'
import { freshFolder } from '../../test/support/folders'
import { openHarness, scripted } from '../../test/support/harness'
import { toolBox } from '../../test/support/tools'
import { compare, type Figure, median, type Row, time } from '../row'

const MB = 1_000_000

/** An exact edit in the middle of a file of 10 MB, read before. */
async function editLarge(): Promise<Figure> {
  const folder = freshFolder('edit')
  const line = 'const value = "some words of a line that is not short"\n'
  const half = line.repeat(Math.ceil((5 * MB) / line.length))
  writeFileSync(join(folder, 'large.ts'), `${half}const place = 1\n${half}`)
  const box = toolBox()
  await box.use('read_file', { path: 'large.ts', limit: 1 }, folder)
  const runs: number[] = []
  for (let n = 1; n <= 5; n++)
    runs.push(
      await time(async () => {
        const edits = [{ old: `const place = ${String(n)}`, new: `const place = ${String(n + 1)}` }]
        const { code, text } = await box.use('edit_file', { path: 'large.ts', edits }, folder)
        if (code !== 'ok') throw new Error(text)
      })
    )
  rmSync(folder, { recursive: true })
  return compare('edit_10mb.ms', 'ms', median(runs), null)
}

const FILES = 50_000

/** The look before a command with nothing known yet, and the look after one. */
async function snapshot(): Promise<Figure[]> {
  const workspace = freshFolder('large')
  const home = freshFolder('home')
  for (let folder = 0; folder < FILES / 100; folder++) {
    const at = join(workspace, `part-${String(folder % 20)}`, `piece-${String(folder)}`)
    mkdirSync(at, { recursive: true })
    for (let file = 0; file < 100; file++)
      writeFileSync(join(at, `file-${String(file)}.ts`), `// ${String(folder)}\n${'export const x = 1\n'.repeat(10 + (file % 60))}`)
  }
  const store = openStore(home, 'bench')
  const undo = createUndo({
    store,
    folder: join(home, 'kept'),
    now: Date.now,
    failed: (error) => {
      throw error
    }
  })
  store.sessions.insert({
    id: 's',
    title: '',
    workspace,
    model: '',
    mode: 'ask',
    archived: false,
    steerMode: 'all',
    followUpMode: 'all',
    createdAt: 0,
    updatedAt: 0,
    state: 'ready'
  })
  await new Promise((resolve) => setTimeout(resolve, 200)) // so that the files just written count as settled
  const call = { sessionId: 's', runId: 'r', callId: 'c', tool: 'run_command', workspace, scope: 'workspace' as const }
  const start = performance.now()
  const first = await undo.before(call)
  const cold = performance.now() - start
  const warm: number[] = []
  let kept = first
  for (let n = 0; n < 5; n++) {
    writeFileSync(join(workspace, `made-${String(n)}`), 'x')
    warm.push(await time(() => kept.after()))
    kept = await undo.before(call)
  }
  undo.close()
  store.close()
  rmSync(workspace, { recursive: true })
  rmSync(home, { recursive: true })
  return [compare('snapshot_50k.cold_ms', 'ms', cold, null), compare('snapshot_50k.warm_ms', 'ms', median(warm), null)]
}

/** What the queue adds to a job that does nothing. */
async function queueOverhead(): Promise<Figure> {
  const queue = createQueue()
  const never = new AbortController().signal
  const JOBS = 20_000
  const owner = { sessionId: 's', runId: 'r', callId: 'c', tool: 't' }
  const ms = await time(async () => {
    for (let n = 0; n < JOBS; n++) await queue.add('/w', { owner, exclusive: true, run: () => Promise.resolve() }, never)
  })
  return compare('queue.us_per_job', 'us', (ms / JOBS) * 1_000, null)
}

/** From the first report of a tool to the event that a window is handed, with 10,000 reports behind it. */
async function firstProgress(): Promise<Figure> {
  let reported = 0
  const work: Tool = {
    name: 'work',
    description: 'work',
    label: 'readonly',
    replay: 'safe',
    parameters: z.object({}),
    async execute(_args, { progress }) {
      reported = performance.now()
      for (let done = 1; done <= 10_000; done++) progress({ done, total: 10_000 })
      await new Promise((resolve) => setTimeout(resolve, 100))
      return { code: 'ok', text: 'done' }
    }
  }
  const core = openHarness(scripted(Array.from({ length: 10 }, () => 'call: work {}\n---\nsay: done').join('\n---\n')), { tools: [work] })
  const runs: number[] = []
  for (let n = 0; n < 10; n++) {
    const session = core.session()
    const seen = (async () => {
      for await (const event of session.watch(0, AbortSignal.timeout(10_000)))
        if (event.type === 'tool_update') return performance.now() - reported
      throw new Error('no progress came')
    })()
    await session.prompt({ text: 'go', itemId: `go-${String(n)}` })
    runs.push(await seen)
    await session.waitForIdle()
  }
  await core.close()
  return compare('first_progress.ms', 'ms', median(runs), null)
}

const row = (name: string, run: () => Promise<Figure | Figure[]>): Row => ({ name, run: async () => [await run()].flat() })
export const edit10mb = row('edit_10mb', editLarge)
export const snapshot50k = row('snapshot_50k', snapshot)
export const queueJobs = row('queue', queueOverhead)
export const progress = row('first_progress', firstProgress)
