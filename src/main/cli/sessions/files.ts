// `tau export`, `tau import`: sessions as files.
import { createWriteStream, existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { once } from 'node:events'
import type { Client } from '../../app/owner/visitor'
import { EXTENSIONS, type ExportFormat, fileNameFor } from '../../app/session-file'
import { EXIT, Failure } from '../failure'
import { findSession } from './find'
import { inert } from '../printer'
import { text } from '../text'

export async function exportTo(client: Client, id: string, options: { format?: string; out?: string }): Promise<number> {
  const format = (Object.keys(EXTENSIONS) as ExportFormat[]).find((f) => f === (options.format ?? 'pi'))
  if (!format) throw new Failure(EXIT.usage, text.format)
  const session = await findSession(client, id)
  const pieces = await client.sessions.export({ sessionId: session.id, format })
  if (options.out === '-') {
    for await (const piece of pieces) process.stdout.write(piece)
    return EXIT.ok
  }
  const file = resolve(options.out ?? fileNameFor(session.title, EXTENSIONS[format]))
  if (existsSync(file)) throw new Failure(EXIT.usage, text.exists(file))
  const out = createWriteStream(file, { flags: 'wx' })
  for await (const piece of pieces) if (!out.write(piece)) await once(out, 'drain')
  out.end()
  await once(out, 'close')
  process.stderr.write(`${text.written(file)}\n`)
  return EXIT.ok
}

export async function importFrom(client: Client, file: string, options: { cwd?: string; json?: boolean }): Promise<number> {
  const words = await (file === '-' ? readAll() : readFile(file, 'utf8')).catch((error: unknown) => {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    throw new Failure(EXIT.missing, isMissing ? text.noFile(file) : error instanceof Error ? error.message : String(error))
  })
  const made = await client.sessions.import({ text: words, ...(options.cwd !== undefined && { workspace: resolve(options.cwd) }) })
  process.stdout.write(options.json ? `${JSON.stringify(made)}\n` : `${text.imported(made.session.id, made.entries)}\n`)
  for (const { line, why } of made.bad) process.stderr.write(`${text.badLine(line, inert(why))}\n`)
  return EXIT.ok
}

async function readAll(): Promise<string> {
  let all = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) all += String(chunk)
  return all
}
