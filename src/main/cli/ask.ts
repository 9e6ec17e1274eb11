// `tau ask`: one prompt, watched to its end. Words go to standard output, everything else to standard error, so that a pipe gets the answer.
import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { call } from '@orpc/server'
import type { SessionEvent } from '../../shared/event'
import type { Approval, Session, StopCause } from '../../shared/session'
import type { App } from '../app/compose'
import { EXIT, Failure } from './failure'
import { answerFor } from './approval'
import { createPrinter } from './printer'
import { text } from './text'

export interface AskOptions {
  readonly session?: string
  readonly model?: string
  readonly cwd?: string
  readonly json?: boolean
  readonly allow?: string[]
}
const LABELS = ['write', 'network', 'exec']

/** The exit code. Throws Failure for what the person can mend. */
export async function ask(app: App, question: string, options: AskOptions): Promise<number> {
  for (const label of options.allow ?? []) if (!LABELS.includes(label)) throw new Failure(EXIT.usage, text.badLabel(label))
  const words = (question === '-' ? await readAll() : question).trim()
  if (words === '') throw new Failure(EXIT.usage, text.empty)
  const session = await sessionFor(app, options)
  const { router } = app
  const { seq } = await call(router.sessions.open, { sessionId: session.id })
  const stop = new AbortController()
  process.on('SIGINT', () => {
    if (stop.signal.aborted) process.exit(EXIT.stopped)
    stop.abort()
    void call(router.run.stop, { sessionId: session.id })
  })

  const events = await call(router.sessions.watch, { sessionId: session.id, after: seq })
  await call(router.run.prompt, { sessionId: session.id, text: words, itemId: randomUUID() })
  const printer = createPrinter(options.json ?? false)
  for await (const event of events as AsyncIterable<SessionEvent>) {
    printer.print(event)
    if (event.type === 'approval_request') void decide(app, event.approval, session.id, options)
    if (event.type === 'agent_end') return exitCodeOf(event.cause)
  }
  return EXIT.failed
}

async function decide(app: App, approval: Approval, sessionId: string, options: AskOptions): Promise<void> {
  const answer = await answerFor(approval, new Set(options.allow))
  // the run may have ended meanwhile: then there is nothing to answer
  await call(app.router.run.answer, { sessionId, approvalId: approval.id, answer }).catch(() => undefined)
}

async function sessionFor(app: App, options: AskOptions): Promise<Session> {
  const { router } = app
  const model = options.model === undefined ? undefined : await modelId(app, options.model)
  if (options.session !== undefined) {
    const session = await findSession(app, options.session)
    return model === undefined ? session : call(router.sessions.setModel, { sessionId: session.id, model })
  }
  if (model === undefined && (await call(router.app.refresh, undefined)).defaultModel === '') throw new Failure(EXIT.missing, text.noModel)
  return call(router.sessions.create, { workspace: resolve(options.cwd ?? process.cwd()), ...(model !== undefined && { model }) })
}

/** By id, or by the end of an id when only one session ends so. */
export async function findSession(app: App, id: string): Promise<Session> {
  const all = (await Promise.all([false, true].map((archived) => call(app.router.sessions.list, { archived })))).flat()
  const found = all.filter((s) => s.id === id || (id.length >= 4 && s.id.endsWith(id)))
  const [session] = found
  if (!session || found.length > 1) throw new Failure(EXIT.missing, text.noSession(id))
  return session
}

/** `scripted:FILE` with its file found from here; a bare name where only one model has it. */
async function modelId(app: App, given: string): Promise<string> {
  if (given.startsWith('scripted:tour-')) return given
  if (given.startsWith('scripted:')) return `scripted:${resolve(given.slice('scripted:'.length))}`
  if (/^(engine|ollama):/.test(given)) return given
  const { models } = await call(app.router.app.refresh, undefined)
  const found = models.find((m) => m.id.slice(m.id.indexOf(':') + 1) === given)
  return found?.id ?? given
}

function exitCodeOf(cause: StopCause): number {
  switch (cause.kind) {
    case 'natural':
    case 'terminated':
      return EXIT.ok
    case 'aborted':
    case 'interrupted':
      return EXIT.stopped
    case 'budget':
    case 'repetition':
      return EXIT.budget
    case 'error':
      return cause.error.code === 'model_missing' || cause.error.code === 'no_model' ? EXIT.missing : EXIT.failed
  }
}

async function readAll(): Promise<string> {
  let all = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) all += String(chunk)
  return all
}
