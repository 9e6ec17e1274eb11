// `tau sessions`, `tau show`, `tau models`: what is there, for people and as JSON lines.
import { styleText } from 'node:util'
import type { StarterState } from '../../shared/contract'
import { callsOf, textOf } from '../../shared/message'
import type { Entry } from '../../shared/session'
import type { Client } from '../app/owner/visitor'
import { findSession } from './sessions/find'
import { EXIT, Failure } from './failure'
import { inert } from './printer'
import { text } from './text'

const line = (words: string): void => void process.stdout.write(`${words}\n`)
const records = (list: readonly unknown[]): void => {
  for (const item of list) line(JSON.stringify(item))
}

export async function listSessions(client: Client, options: { json?: boolean; archived?: boolean; binned?: boolean }): Promise<number> {
  const sessions = await client.sessions.list({ archived: options.archived ?? false, binned: options.binned ?? false })
  if (options.json) records(sessions)
  else if (sessions.length === 0) line(text.noSessions)
  else
    for (const s of sessions)
      line(`${s.id}  ${new Date(s.updatedAt).toISOString().slice(0, 16).replace('T', ' ')}  ${s.state.padEnd(11)}  ${inert(s.title)}`)
  return EXIT.ok
}

/** The conversation from its root to its head. */
export async function showSession(client: Client, id: string, options: { json?: boolean }): Promise<number> {
  const session = await findSession(client, id)
  const path = await wholePath(client, session.id)
  if (options.json) {
    records(path)
    return EXIT.ok
  }
  line(`${styleText('bold', inert(session.title))}  ${session.model}  ${session.workspace}`)
  for (const entry of path) {
    if (entry.type === 'branch_summary' || entry.type === 'compaction') {
      line(`\n${styleText('bold', text.summaryOf)}`)
      line(inert(entry.summary))
    }
    if (entry.type !== 'message') continue
    const { message } = entry
    const who = message.role === 'user' ? text.you : message.role === 'tool' ? `${message.name} (${message.code})` : message.model
    line(`\n${styleText('bold', inert(who))}`)
    if (textOf(message) !== '') line(inert(textOf(message)))
    for (const c of callsOf(message)) line(text.tool(inert(c.name), inert(c.arguments)))
    if (message.role === 'assistant' && message.error) line(styleText('dim', text.failed(inert(message.error.message))))
  }
  return EXIT.ok
}

/** A snapshot has the newest part; what comes before it is fetched part by part. */
async function wholePath(client: Client, sessionId: string): Promise<Entry[]> {
  let { entries, more } = await client.sessions.open({ sessionId })
  for (let first = entries[0]; more && first; first = entries[0]) {
    const older = await client.sessions.older({ sessionId, before: first.id, limit: 2_000 })
    entries = [...older.entries, ...entries]
    more = older.more
  }
  return entries
}

export async function listModels(client: Client, options: { json?: boolean; getStarter?: boolean }): Promise<number> {
  if (options.getStarter) await getStarter(client)
  const { models, defaultModel } = await client.app.refresh()
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
async function getStarter(client: Client): Promise<void> {
  const end = new AbortController()
  const shown = showProgress(client, end.signal)
  const state = await client.app.fetchStarter()
  end.abort()
  await shown
  if (state.state === 'failed') throw new Failure(EXIT.failed, text.starterFailed(state.error.message))
  process.stderr.write(`${text.starterReady}\n`)
}

async function showProgress(client: Client, signal: AbortSignal): Promise<void> {
  const tty = process.stderr.isTTY
  const pause = tty ? 250 : 5_000
  let shown = -pause
  const events = await client.app.watch(undefined, { signal })
  try {
    for await (const event of events) {
      const starter = event.type === 'app' ? event.app.starter : undefined
      if (starter?.state !== 'fetching' || performance.now() - shown < pause) continue
      shown = performance.now()
      process.stderr.write(tty ? `\r\x1b[K${progressLine(starter)}` : `${progressLine(starter)}\n`)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  if (tty) process.stderr.write('\r\x1b[K')
}

function progressLine({ step, done, total, secondsLeft }: Extract<StarterState, { state: 'fetching' }>): string {
  const mb = (bytes: number): string => (bytes / 1e6).toFixed(1)
  const bar = total > 0 ? `[${'█'.repeat(Math.round((done / total) * 20)).padEnd(20, '░')}] ` : ''
  const left = secondsLeft === undefined ? '' : text.left(Math.ceil(secondsLeft))
  return bar + text.fetching(text.steps[step], mb(done), total > 0 ? mb(total) : '?', left)
}
