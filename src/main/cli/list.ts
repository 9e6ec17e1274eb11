// `tau sessions`, `tau show`, `tau models`: what is there, for people and as JSON lines.
import { setTimeout } from 'node:timers/promises'
import { styleText } from 'node:util'
import { call } from '@orpc/server'
import type { StarterState } from '../../shared/contract'
import { callsOf, textOf } from '../../shared/message'
import { viewOf } from '../../shared/snapshot'
import { toArray } from '../../shared/list'
import type { App } from '../app/compose'
import { findSession } from './ask'
import { EXIT, Failure } from './failure'
import { inert } from './printer'
import { text } from './text'

const line = (words: string): void => void process.stdout.write(`${words}\n`)
const records = (list: readonly unknown[]): void => {
  for (const item of list) line(JSON.stringify(item))
}

export async function listSessions(app: App, options: { json?: boolean; archived?: boolean }): Promise<number> {
  const sessions = await call(app.router.sessions.list, { archived: options.archived ?? false })
  if (options.json) records(sessions)
  else if (sessions.length === 0) line(text.noSessions)
  else
    for (const s of sessions)
      line(`${s.id}  ${new Date(s.updatedAt).toISOString().slice(0, 16).replace('T', ' ')}  ${s.state.padEnd(11)}  ${inert(s.title)}`)
  return EXIT.ok
}

/** The conversation from its root to its head. */
export async function showSession(app: App, id: string, options: { json?: boolean }): Promise<number> {
  const session = await findSession(app, id)
  const view = viewOf(await call(app.router.sessions.open, { sessionId: session.id }))
  const path = toArray(view.tree.path)
  if (options.json) {
    records(path)
    return EXIT.ok
  }
  line(`${styleText('bold', inert(session.title))}  ${session.model}  ${session.workspace}`)
  for (const { message } of path) {
    const who = message.role === 'user' ? text.you : message.role === 'tool' ? `${message.name} (${message.code})` : message.model
    line(`\n${styleText('bold', inert(who))}`)
    if (textOf(message) !== '') line(inert(textOf(message)))
    for (const c of callsOf(message)) line(text.tool(inert(c.name), inert(c.arguments)))
    if (message.role === 'assistant' && message.error) line(styleText('dim', text.failed(inert(message.error.message))))
  }
  return EXIT.ok
}

export async function listModels(app: App, options: { json?: boolean; getStarter?: boolean }): Promise<number> {
  if (options.getStarter) await getStarter(app)
  const { models, defaultModel } = await call(app.router.app.refresh, undefined)
  if (options.json) records(models)
  else if (models.length === 0) line(text.noModels)
  else
    for (const m of models) {
      const size = m.size === undefined ? '' : `  ${String(Math.round(m.size / 1e6))} MB`
      const state = m.ready ? '' : `  ${text.notReady}: ${m.fault?.message ?? ''}`
      line(`${m.id === defaultModel ? '*' : ' '} ${inert(m.id)}${size}  ${m.tools ? text.tools : text.noTools}${state}`)
    }
  return EXIT.ok
}

/** Fetches the starter with a line that moves on a terminal, and a line every few seconds elsewhere. */
async function getStarter(app: App): Promise<void> {
  const end = new AbortController()
  const shown = showProgress(app, end.signal)
  const state = await call(app.router.app.fetchStarter, undefined)
  end.abort()
  await shown
  if (state.state === 'failed') throw new Failure(EXIT.failed, text.starterFailed(state.error.message))
  process.stderr.write(`${text.starterReady}\n`)
}

async function showProgress(app: App, signal: AbortSignal): Promise<void> {
  const tty = process.stderr.isTTY
  const pause = tty ? 250 : 5_000
  while (!signal.aborted) {
    const starter = app.core.feed.state.starter
    if (starter.state === 'fetching') process.stderr.write(tty ? `\r\x1b[K${progressLine(starter)}` : `${progressLine(starter)}\n`)
    await setTimeout(pause, undefined, { signal }).catch(() => undefined)
  }
  if (tty) process.stderr.write('\r\x1b[K')
}

function progressLine({ step, done, total, secondsLeft }: Extract<StarterState, { state: 'fetching' }>): string {
  const mb = (bytes: number): string => (bytes / 1e6).toFixed(1)
  const bar = total > 0 ? `[${'█'.repeat(Math.round((done / total) * 20)).padEnd(20, '░')}] ` : ''
  const left = secondsLeft === undefined ? '' : text.left(Math.ceil(secondsLeft))
  return bar + text.fetching(text.steps[step], mb(done), total > 0 ? mb(total) : '?', left)
}
