// `tau work`, `tau jobs`, `tau cancel`: what runs now, in all sessions of the Tau that owns the data folder.
import type { AppEvent } from '../../../shared/contract'
import type { Client } from '../../app/owner/visitor'
import { EXIT, Failure } from '../failure'
import { inert } from '../printer'
import { findSession, oneOf } from '../sessions/find'
import { text } from './text'

const line = (words: string): void => void process.stdout.write(`${words}\n`)

/** The state of one kind, as a window is told it first. */
async function stateOf<T extends AppEvent['type']>(client: Client, type: T): Promise<Extract<AppEvent, { type: T }> | undefined> {
  const stop = new AbortController()
  try {
    for await (const event of await client.app.watch(undefined, { signal: stop.signal })) if (isOf(event, type)) return event
    return undefined
  } finally {
    stop.abort()
  }
}
const isOf = <T extends AppEvent['type']>(event: AppEvent, type: T): event is Extract<AppEvent, { type: T }> => event.type === type

export async function work(client: Client, options: { json?: boolean }): Promise<number> {
  const all = (await stateOf(client, 'work'))?.work ?? []
  if (options.json) for (const item of all) line(JSON.stringify(item))
  else if (all.length === 0) line(text.noWork)
  for (const item of options.json ? [] : all) {
    const before = item.behind.map((id) => all.find((other) => other.id === id)?.callId ?? id)
    line(
      `${item.callId}  ${inert(item.tool)}  ${item.sessionId.slice(-8)}  ${item.state === 'running' ? text.running : text.behind(before.join(', '))}`
    )
  }
  return EXIT.ok
}

export async function jobs(client: Client, [verb, id, ...rest]: string[], options: { json?: boolean }): Promise<number> {
  const all = (await stateOf(client, 'jobs'))?.jobs ?? []
  if (verb === undefined) {
    if (options.json) for (const job of all) line(JSON.stringify(job))
    else if (all.length === 0) line(text.noJobs)
    else for (const job of all) line(`${job.id}  ${job.state.padEnd(8)}  ${inert(job.command.replaceAll('\n', ' '))}`)
    return EXIT.ok
  }
  if ((verb !== 'read' && verb !== 'stop') || id === undefined || rest.length > 0) throw new Failure(EXIT.usage, text.badJobs)
  const jobId = oneOf(all, id)?.id ?? id
  if (verb === 'stop') line(`${jobId}  ${(await client.jobs.stop({ jobId })).state}`)
  else line(inert((await client.jobs.read({ jobId, lines: 2_000 })).text))
  return EXIT.ok
}

export async function cancel(client: Client, id: string, callId: string): Promise<number> {
  const { id: sessionId } = await findSession(client, id)
  const { cancelled } = await client.run.cancelCall({ sessionId, callId })
  process.stderr.write(`${cancelled ? text.cancelled : text.notCancelled}\n`)
  return cancelled ? EXIT.ok : EXIT.missing
}
