// ripgrep as a child process: fast, respects ignore files, never follows links. What it prints is read as it comes and no further than is wanted.
import { spawn } from 'node:child_process'
import { StringDecoder } from 'node:string_decoder'
import { rgPath } from '@vscode/ripgrep'

export type Ended = { readonly ok: true; readonly stopped: boolean } | { readonly ok: false; readonly reason: string }

/** In a packed app the program lies beside the archive, not in it. */
const PROGRAM = rgPath.replace(/\bapp\.asar\b/, 'app.asar.unpacked')

/**
 * Runs it and hands over what it prints, piece by piece, cut at `separator`, until `take` says false (it is ended then). Never throws.
 */
export function runRipgrep(
  args: readonly string[],
  options: { readonly cwd: string; readonly separator: string; readonly signal: AbortSignal },
  take: (piece: string) => boolean
): Promise<Ended> {
  return new Promise((resolve) => {
    // no configuration file of the person changes what a search means
    const env = { PATH: process.env['PATH'] ?? '', RIPGREP_CONFIG_PATH: '' }
    const child = spawn(PROGRAM, ['--no-config', ...args], {
      cwd: options.cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: options.signal
    })
    const decoder = new StringDecoder('utf8')
    let rest = ''
    let said = ''
    let stopped = false
    child.stdout.on('data', (chunk: Buffer) => {
      if (stopped) return
      const pieces = (rest + decoder.write(chunk)).split(options.separator)
      rest = pieces.pop() ?? ''
      for (const piece of pieces) {
        if (take(piece)) continue
        stopped = true
        child.kill('SIGKILL')
        return
      }
      if (rest.length > MAX_PIECE) rest = rest.slice(0, MAX_PIECE)
    })
    child.stderr.on('data', (chunk: Buffer) => {
      if (said.length < 2_000) said += chunk.toString('utf8')
    })
    child.on('error', (error) => {
      resolve(options.signal.aborted ? { ok: true, stopped: true } : { ok: false, reason: error.message })
    })
    child.on('close', (code) => {
      if (!stopped && rest !== '') take(rest)
      // 1: nothing found; 2 with results: some files could not be read
      if (stopped || options.signal.aborted || code === 0 || code === 1) resolve({ ok: true, stopped })
      else resolve({ ok: false, reason: said.trim().slice(0, 500) || `ripgrep ended with ${String(code)}` })
    })
  })
}

/** One result of a search; a file without line breaks would fill the memory. */
const MAX_PIECE = 1_000_000
