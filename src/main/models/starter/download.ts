// A download that survives a cut: it grows in a `.part` file, goes on from there, and gets its name only when its hash is right.
import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import type { Response } from 'undici'
import { createFault, type StarterFault, toFault } from './fault'
import type { Web } from './web'

export interface Download {
  readonly url: string
  /** File to write; `<target>.part` until it is whole. */
  readonly target: string
  readonly size: number
  readonly sha256: string
  readonly signal: AbortSignal
  /** Bytes so far, what was there before included. */
  readonly onBytes: (done: number) => void
}

/** Undefined when the file is there, whole and right; else why not. What came so far stays for the next time, unless it is wrong. */
export async function downloadFile(web: Web, work: Download): Promise<StarterFault | undefined> {
  const part = `${work.target}.part`
  let idle = 0
  // a broken connection goes on from where it broke; three times in a row without a new byte is enough
  for (let had = await sizeOf(part); ;) {
    const fault = await downloadRest(web, work, part)
    if (!fault) {
      await rename(part, work.target)
      return undefined
    }
    const has = await sizeOf(part)
    idle = has > had ? 0 : idle + 1
    had = has
    if (fault.code !== 'broken_off' || idle >= 3) return fault
  }
}

/** SHA-256 of a file. */
export async function hashFile(path: string, signal: AbortSignal): Promise<string> {
  return (await hashOf(path, signal)).digest('hex')
}

async function downloadRest(web: Web, work: Download, part: string): Promise<StarterFault | undefined> {
  const { url, size, signal } = work
  try {
    const had = await sizeOf(part)
    if (had > size) await rm(part, { force: true })
    const from = had > size ? 0 : had
    if (from < size) {
      const answer = await web.get(url, from > 0 ? { Range: `bytes=${String(from)}-` } : {}, signal)
      const fault = await saveBody(answer, work, part, from)
      if (fault) return fault
    }
    if ((await hashFile(part, signal)) === work.sha256) return undefined
    await rm(part, { force: true })
    // a part of another file may have been continued: from the start it can still come right
    return from > 0
      ? createFault('broken_off', 'The download did not fit what was there before.')
      : createFault('bad_hash', 'The downloaded file is not the one that was expected.')
  } catch (cause) {
    return toFault(cause, signal)
  }
}

async function saveBody(answer: Response, work: Download, part: string, from: number): Promise<StarterFault | undefined> {
  const resumed = answer.status === 206 && (answer.headers.get('content-range') ?? '').startsWith(`bytes ${String(from)}-`)
  if (answer.status === 416) {
    await answer.body?.cancel()
    await rm(part, { force: true })
    return createFault('broken_off', 'The server cannot go on from there.')
  }
  if ((answer.status !== 200 && !resumed) || answer.body === null) {
    await answer.body?.cancel()
    return createFault('not_there', `The server answered ${String(answer.status)}.`)
  }
  const start = resumed ? from : 0
  const length = answer.headers.get('content-length')
  if (length !== null && start + Number(length) !== work.size) {
    await answer.body.cancel()
    return createFault('bad_hash', 'The server has another file under this name.')
  }
  const file = await open(part, resumed ? 'a' : 'w')
  let done = start
  try {
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      await file.write(chunk)
      done += chunk.length
      work.onBytes(done)
      if (done > work.size) return createFault('bad_hash', 'The server sent more than the file.')
    }
  } finally {
    await file.close()
  }
  return done < work.size ? createFault('broken_off', 'The connection broke off.') : undefined
}

const sizeOf = async (path: string): Promise<number> => (await stat(path).catch(() => undefined))?.size ?? 0

async function hashOf(path: string, signal: AbortSignal): Promise<Hash> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { signal, highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) hash.update(chunk)
  return hash
}
