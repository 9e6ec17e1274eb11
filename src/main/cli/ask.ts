// `tau ask`: one prompt, watched to its end. Words go to standard output, everything else to standard error, so that a pipe gets the answer.
import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import type { Approval, Session, StopCause } from '../../shared/session'
import type { Client } from '../app/owner/visitor'
import { EXIT, Failure } from './failure'
import { answerFor } from './approval'
import { findSession } from './sessions/find'
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
export async function ask(client: Client, question: string, options: AskOptions): Promise<number> {
  for (const label of options.allow ?? []) if (!LABELS.includes(label)) throw new Failure(EXIT.usage, text.badLabel(label))
  const words = (question === '-' ? await readAll() : question).trim()
  if (words === '') throw new Failure(EXIT.usage, text.empty)
  const session = await sessionFor(client, options)
  return follow(client, session.id, options, async () => {
    await client.run.prompt({ sessionId: session.id, text: words, itemId: randomUUID() })
  })
}

/**
 * Does what begins or moves a run, prints what happens, answers what is asked as the options say, and returns the exit code of its end. `park`:
 * without a terminal a question is left open, to be answered later, and not denied.
 */
export async function follow(
  client: Client,
  sessionId: string,
  options: Pick<AskOptions, 'json' | 'allow'> & { park?: boolean },
  act: () => Promise<void>
): Promise<number> {
  const { seq } = await client.sessions.open({ sessionId })
  const stop = new AbortController()
  process.on('SIGINT', () => {
    if (stop.signal.aborted) process.exit(EXIT.stopped)
    stop.abort()
    void client.run.stop({ sessionId })
  })
  const events = await client.sessions.watch({ sessionId, after: seq })
  await act()
  const printer = createPrinter(options.json ?? false)
  for await (const event of events) {
    printer.print(event)
    if (event.type === 'approval_request' && options.park && !process.stdin.isTTY) {
      process.stderr.write(`${text.asksAgain(sessionId.slice(-8))}\n`)
      return EXIT.ok
    }
    if (event.type === 'approval_request') void decide(client, event.approval, sessionId, options)
    if (event.type === 'agent_end') return exitCodeOf(event.cause)
  }
  return EXIT.failed
}

async function decide(client: Client, approval: Approval, sessionId: string, options: Pick<AskOptions, 'allow'>): Promise<void> {
  const answer = await answerFor(approval, new Set(options.allow))
  // the run may have ended meanwhile: then there is nothing to answer
  await client.run.answer({ sessionId, approvalId: approval.id, answer }).catch(() => undefined)
}

async function sessionFor(client: Client, options: AskOptions): Promise<Session> {
  const model = options.model === undefined ? undefined : await modelId(client, options.model)
  if (options.session !== undefined) {
    const session = await findSession(client, options.session)
    return model === undefined ? session : client.sessions.setModel({ sessionId: session.id, model })
  }
  if (model === undefined && (await client.app.refresh()).defaultModel === '') throw new Failure(EXIT.missing, text.noModel)
  return client.sessions.create({ workspace: resolve(options.cwd ?? process.cwd()), ...(model !== undefined && { model }) })
}

/** `scripted:FILE` with its file found from here; a bare name where only one model has it. */
async function modelId(client: Client, given: string): Promise<string> {
  if (given.startsWith('scripted:tour-')) return given
  if (given.startsWith('scripted:')) return `scripted:${resolve(given.slice('scripted:'.length))}`
  if (/^(engine|ollama):/.test(given)) return given
  const { models } = await client.app.refresh()
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
