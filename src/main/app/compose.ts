// The composition root: builds the whole app on one data folder and hands each part what it needs. Hosts see `App` only.
import { mkdirSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { AppState } from '../../shared/contract'
import type { Run, Session } from '../../shared/session'
import { ORPCError } from '@orpc/server'
import { createQueue } from '../loop/queue'
import { createCatalog, chooseDefault } from '../models/catalog'
import { createOllamaProvider } from '../models/ollama/provider'
import { scriptedProvider } from '../models/scripted/provider'
import { STARTER_ID } from '../models/starter/spec'
import { createStarter } from '../models/starter/starter'
import { DEFAULT_BUDGET } from '../policy/budget'
import { recoverRuns } from '../session/run/recovery'
import { createSessions } from '../session/sessions'
import { openStore } from '../store/store'
import { exportSession, importSession } from '../store/transfer'
import type { Core, NewSessionInput } from './core'
import { createEffects } from './effects'
import { createEngine } from './engine-process'
import { createFeed } from './feed'
import { testPolicy } from './policy-test'
import { openDoor } from './owner/door'
import { openLogFile } from './log'
import { createRouter, type Router } from './router'
import { storageTrouble, WELL } from './storage'
import { prepareTour, tourScripts } from './tour'

export interface AppConfig {
  /** The data folder; made when it is missing. */
  readonly home: string
  readonly host: AppState['host']
  readonly version: string
  /** The built engine program. */
  readonly engineEntry: string
  /** Folder for sessions that name none; default: the person's home folder's `Tau`. */
  readonly workspace?: string
  /** Brings the host before the person's eyes; `url`: a link to it. */
  readonly show?: () => { url?: string }
}
export interface App {
  readonly router: Router
  readonly core: Core
  /** Ends runs, engine and database, in that order; safe to call twice. */
  close(): Promise<void>
}

/** Throws StoreError when the data folder cannot be used; nothing is changed then. */
export async function composeApp(config: AppConfig): Promise<App> {
  const home = resolve(config.home)
  const store = openStore(home, config.host)
  const log = openLogFile(home)
  const recovered = store.mode === 'read-write' ? recoverRuns(store, Date.now) : 0
  for (const notice of store.notices) log.warn({ event: 'store', ...notice })
  log.info({ event: 'app_start', host: config.host, version: config.version, recovered })

  const workspace = resolve(config.workspace ?? join(homedir(), 'Tau'))
  const modelsFolder = join(home, 'models')
  const engine = createEngine({
    entry: config.engineEntry,
    modelsFolder,
    onState: (state) => {
      log.info({ event: 'engine', ...state })
      feed.update({ engine: state })
    }
  })
  const starter = createStarter({
    modelsFolder,
    env: process.env,
    onState: (state) => {
      feed.update({ starter: state })
    }
  })
  const ollama = createOllamaProvider({ env: process.env })
  const catalog = createCatalog([ollama, engine.provider, scriptedProvider(tourScripts)])
  const queue = createQueue()
  const effects = await createEffects({ home, store, now: Date.now })
  const { policy, undo, outputs, jobs, registry } = effects
  const initial: AppState = {
    version: config.version,
    host: config.host,
    home,
    workspace,
    defaultModel: '',
    models: [],
    starter: starter.state(),
    engine: engine.state(),
    ollama: { reachable: false, url: '' },
    storage: store.mode === 'read-only' ? storageTrouble({ code: 'SQLITE_READONLY' }, home) : WELL,
    sandbox: effects.sandbox,
    policy: policy.show(),
    notices: store.notices.map(({ code, message }) => ({ code, message }))
  }
  const feed = createFeed(initial, {
    sessions: () => store.sessions.list('open'),
    work: () => queue.work().map((w) => ({ ...w, behind: [...w.behind] })),
    jobs: () => jobs.list()
  })
  queue.watch(feed.workChanged)
  jobs.watch(feed.jobsChanged)
  const sessions = createSessions({
    store,
    registry,
    queue,
    budget: DEFAULT_BUDGET,
    policy,
    outputs,
    undo,
    openModel: (id) => catalog.open(id),
    defaultModel: () => feed.state.defaultModel,
    now: Date.now,
    report: (report) => {
      log.warn({
        event: 'hook',
        hook: report.hook,
        point: report.point,
        problem: report.problem,
        ms: Math.round(report.ms),
        err: report.error
      })
    },
    audit: (record) => {
      log.info(record)
    },
    storage: {
      trouble: (error) => {
        const storage = storageTrouble(error, home)
        if (feed.state.storage.state !== storage.state) log.error({ event: 'storage', err: error })
        feed.update({ storage })
      },
      well: () => {
        log.info({ event: 'storage', state: 'ok' })
        feed.update({ storage: WELL })
      }
    },
    changed: feed.sessionChanged,
    ended: (run) => {
      const { sessionId, id, model, state, startedAt, endedAt = startedAt } = run
      log.info({ event: 'run_end', session_id: sessionId, run_id: id, model, state, cause: causeOf(run), latency_ms: endedAt - startedAt })
    },
    failed: (what, error) => {
      log.error({ event: 'failed', what, err: error })
    }
  })

  async function refresh(): Promise<AppState> {
    const [models, found] = await Promise.all([catalog.list(), ollama.probe()])
    const defaultModel = chooseDefault(models, STARTER_ID)
    feed.update({ models, defaultModel, ollama: found, starter: starter.refresh() })
    return feed.state
  }

  async function createSession(input: NewSessionInput): Promise<{ ok: true; value: Session } | { ok: false; message: string }> {
    if (input.tour) return { ok: true, value: sessions.create(await prepareTour(home, input.tour)) }
    const folder = resolve(input.workspace ?? workspace)
    if (input.workspace === undefined) mkdirSync(folder, { recursive: true })
    const info = await stat(folder).catch(() => undefined)
    if (!info?.isDirectory()) return { ok: false, message: `${folder} is not a folder. Choose one that exists.` }
    const model = input.model ?? feed.state.defaultModel
    return { ok: true, value: sessions.create({ title: input.title ?? '', workspace: folder, model }) }
  }

  const core: Core = {
    feed,
    sessions,
    createSession,
    explain(error) {
      if (error instanceof ORPCError) return error
      log.error({ event: 'request_failed', err: error })
      const code = error instanceof Error && 'code' in error ? String(error.code) : ''
      if (!code.startsWith('SQLITE_')) return error
      const { message } = storageTrouble(error, home)
      return new ORPCError('UNSTORED', { message: `Nothing happened: ${message}`, defined: true })
    },
    refresh,
    async fetchStarter() {
      const state = await starter.fetch()
      log.info({ event: 'starter', ...state })
      await refresh()
      return state
    },
    async restartEngine() {
      await engine.stop()
      return engine.state()
    },
    exportSession: (id, format) => exportSession(store, id, format) ?? [],
    importSession({ text, workspace: given }) {
      const made = importSession(store, text, {
        fallbackWorkspace: workspace,
        model: feed.state.defaultModel,
        at: Date.now(),
        ...(given !== undefined && { workspace: resolve(given) })
      })
      if (!made.ok) return { ok: false, message: made.message }
      feed.sessionChanged(made.session)
      return { ok: true, value: { session: made.session, entries: made.entries, bad: [...made.bad] } }
    },
    policy: {
      show() {
        const state = policy.show()
        feed.update({ policy: state })
        return state
      },
      test: (input) => testPolicy(input, { policy, registry, store, workspace }),
      grants: () => store.grants.list(),
      revoke: (grantId) => store.grants.revoke(grantId, Date.now())
    },
    undo: {
      usage: () => undo.usage(),
      clear() {
        undo.clear()
        return undo.usage()
      }
    },
    jobs,
    async readOutput(ref, from, lines) {
      const part = await outputs.read(ref, { from, lines, bytes: MAX_OUTPUT_PART })
      return part && { text: policy.mask(part.text), more: part.next !== undefined, bytes: part.total }
    },
    show: () => ({ host: config.host, ...config.show?.() })
  }
  void refresh()

  const router = createRouter(core)
  const door = openDoor(router, store.announce, (error) => {
    log.error({ event: 'door', err: error })
  })
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    door.close()
    await sessions.close()
    await Promise.all([engine.stop(), starter.stop(), jobs.close()])
    store.close()
    log.info({ event: 'app_end' })
  }
  return { router, core, close: () => (closing ??= close()) }
}

/** Bytes of a whole output that a window is given at a time. */
const MAX_OUTPUT_PART = 1_000_000

/** Kind of the end; of an error its code only, as its message may quote what was said. */
const causeOf = ({ cause }: Run): string => (cause?.kind === 'error' ? `error: ${cause.error.code}` : (cause?.kind ?? 'unknown'))
