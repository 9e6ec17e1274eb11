// Commands that go on in the background: they outlive the call and the run that began them, and end with Tau.
import { randomBytes } from 'node:crypto'
import type { Job } from '../../../shared/session'
import type { OutputKeeper } from '../../loop/tool'
import type { Started } from './process'
import { createTail, type Tail } from './tail'

export interface Jobs {
  /** Takes over a command; `start` begins it with a place for its output. Throws what `start` throws. */
  begin(
    sessionId: string,
    command: string,
    outputs: OutputKeeper,
    start: (onOutput: (bytes: Uint8Array) => void) => Promise<Started>
  ): Promise<Job>
  /** Newest first. */
  list(): Job[]
  /** The newest output of a job, at most `lines` lines. */
  read(id: string, lines: number): { job: Job; text: string } | undefined
  stop(id: string): Promise<Job | undefined>
  /** Calls `changed` after each change, at most once in 100 ms, until the returned function is called. */
  watch(changed: () => void): () => void
  close(): Promise<void>
}

/** Jobs that run at once, in all sessions; beyond that a new one is refused. */
const MAX_RUNNING = 20
/** Jobs that have ended and are still listed. */
const MAX_ENDED = 50
const TELL_MS = 100

interface Entry {
  job: Job
  readonly tail: Tail
  started: Started | undefined
  stopped: boolean
}

export function createJobs(now: () => number): Jobs {
  const entries = new Map<string, Entry>()
  const watchers = new Set<() => void>()
  let timer: NodeJS.Timeout | undefined

  function tell(): void {
    timer ??= setTimeout(() => {
      timer = undefined
      for (const changed of watchers) changed()
    }, TELL_MS).unref()
  }
  const present = ({ job, tail }: Entry): Job => ({ ...job, lastLine: tail.newest(1).slice(0, 300), bytes: tail.bytes })

  async function finish(entry: Entry, started: Started): Promise<void> {
    const { code, signal } = await started.ended
    await entry.tail.end()
    const state = entry.stopped ? 'stopped' : signal === null ? 'exited' : 'failed'
    entry.job = { ...entry.job, state, ...(code !== null && { exitCode: code }), endedAt: now() }
    const ended = [...entries.values()].filter((e) => e.job.state !== 'running')
    for (const old of ended.slice(0, -MAX_ENDED)) entries.delete(old.job.id)
    tell()
  }

  return {
    async begin(sessionId, command, outputs, start) {
      const running = [...entries.values()].filter((e) => e.job.state === 'running').length
      if (running >= MAX_RUNNING) throw new Error(`${String(running)} jobs run already. Stop one first.`)
      const tail = createTail(outputs)
      const id = `job_${randomBytes(4).toString('hex')}`
      const job: Job = { id, sessionId, command, state: 'running', startedAt: now(), lastLine: '', bytes: 0 }
      const entry: Entry = { job, tail, started: undefined, stopped: false }
      entry.started = await start((bytes) => {
        tail.push(bytes)
        tell()
      })
      entries.set(id, entry)
      void finish(entry, entry.started)
      tell()
      return present(entry)
    },
    list: () => [...entries.values()].map(present).reverse(),
    read(id, lines) {
      const entry = entries.get(id)
      return entry && { job: present(entry), text: entry.tail.newest(lines) }
    },
    async stop(id) {
      const entry = entries.get(id)
      if (entry?.job.state === 'running') {
        entry.stopped = true
        await entry.started?.kill()
        await entry.started?.ended
        await new Promise(setImmediate)
      }
      return entry && present(entry)
    },
    watch(changed) {
      watchers.add(changed)
      return () => watchers.delete(changed)
    },
    async close() {
      clearTimeout(timer)
      await Promise.all([...entries.keys()].map((id) => this.stop(id)))
    }
  }
}
