// Runs a line by the system's shell (spec T1): in the sandbox, as a process group of its own, with the end of its output for the model.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { z } from 'zod'
import type { Tool, ToolOutput, ToolRun, ToolScope } from '../../loop/tool'
import { locate } from '../files/place'
import { commandEnvironment } from './environment'
import type { Jobs } from './jobs'
import { type Ended, startProcess, type Started } from './process'
import { startOnTerminal } from './pty'
import type { Sandbox } from './sandbox'
import { createTail } from './tail'

const DEFAULT_LIMIT_S = 120
const MAX_LIMIT_S = 3_600

const Arguments = z.strictObject({
  command: z.string().min(1).max(200_000),
  cwd: z.string().min(1).optional(),
  timeout_s: z.number().int().min(1).max(MAX_LIMIT_S).optional(),
  background: z.boolean().optional(),
  pty: z.boolean().optional()
})
type Arguments = z.infer<typeof Arguments>

export function runCommandTool(sandbox: Sandbox, jobs: Jobs): Tool<Arguments> {
  return {
    name: 'run_command',
    description: 'Run a shell line.',
    label: 'exec',
    replay: 'never',
    parameters: Arguments,
    // the line's own limit ends it first, with what it printed
    timeLimitMs: (MAX_LIMIT_S + 60) * 1_000,
    touches: ({ command, cwd }) => ({ command: cwd === undefined || cwd === '.' ? command : `cd -- ${quote(cwd)} && ${command}` }),

    async preview(args, scope) {
      const found = await folderOf(args, scope)
      if ('refusal' in found) return { refuse: found.refusal }
      return {
        preview: {
          kind: 'command',
          command: args.command,
          cwd: found.cwd,
          network: scope.access.network,
          background: args.background ?? false,
          sandbox: scope.access.unsandboxed ? 'none' : sandbox.kind,
          ...(sandbox.why !== undefined && { sandboxWhy: sandbox.why })
        },
        basis: basisOf(args, found.cwd)
      }
    },

    async execute(args, run) {
      const found = await folderOf(args, run)
      if ('refusal' in found) return found.refusal
      const { cwd } = found
      if (run.basis !== undefined && run.basis !== basisOf(args, cwd))
        return { code: 'changed_since_shown', text: 'The folder leads elsewhere than when the person was asked. Nothing ran.' }
      const words = sandbox.wrap(shellWords(args.command), { workspace: found.workspace, cwd, access: run.access })
      const options = { cwd, env: commandEnvironment(process.env) }
      const start = (onOutput: (bytes: Uint8Array) => void): Promise<Started> =>
        (args.pty ? startOnTerminal : startProcess)(words, options, onOutput)
      try {
        return await (args.background ? inBackground(args, run, jobs, start) : inFront(args, run, start))
      } catch (error) {
        run.signal.throwIfAborted()
        return { code: 'not_started', text: `The command could not be started: ${error instanceof Error ? error.message : String(error)}` }
      }
    }
  }
}

/** Milliseconds between two reports of what was printed. */
const REPORT_MS = 50
const REPORT_LINES = 20

async function inFront(
  args: Arguments,
  run: ToolRun,
  start: (onOutput: (bytes: Uint8Array) => void) => Promise<Started>
): Promise<ToolOutput> {
  const tail = createTail(run.outputs)
  let told = 0
  const began = performance.now()
  const started = await start((bytes) => {
    tail.push(bytes)
    if (performance.now() - told < REPORT_MS) return
    told = performance.now()
    run.progress({ done: tail.bytes, text: tail.newest(REPORT_LINES) })
  })
  const limit = (args.timeout_s ?? DEFAULT_LIMIT_S) * 1_000
  let timedOut = false as boolean
  const timer = setTimeout(() => {
    timedOut = true
    void started.kill()
  }, limit)
  const onAbort = (): void => void started.kill()
  if (run.signal.aborted) onAbort()
  run.signal.addEventListener('abort', onAbort, { once: true })
  const ended = await started.ended
  clearTimeout(timer)
  run.signal.removeEventListener('abort', onAbort)
  run.signal.throwIfAborted()
  const { text, ref } = await tail.end()
  const seconds = (performance.now() - began) / 1_000
  return {
    code: timedOut ? 'timeout' : ended.code === 0 ? 'ok' : 'exit',
    text: [text, endLine(ended, seconds, timedOut ? limit / 1_000 : undefined)].filter((t) => t !== '').join('\n'),
    ...(ref !== undefined && { ref }),
    // what came over the network may say anything
    ...(run.access.network && { foreign: true })
  }
}

function endLine({ code, signal, leftOver }: Ended, seconds: number, limit: number | undefined): string {
  const took = `${seconds.toFixed(1)} s`
  const how =
    limit !== undefined
      ? `stopped after its limit of ${String(limit)} s; timeout_s can be larger, or run it with background`
      : signal === null
        ? `exit code ${String(code)}, ${took}`
        : `ended by ${signal}, ${took}`
  return `[${how}${leftOver ? '; what it left running was ended: use background for that' : ''}]`
}

async function inBackground(
  { command }: Arguments,
  run: ToolRun,
  jobs: Jobs,
  start: (onOutput: (bytes: Uint8Array) => void) => Promise<Started>
): Promise<ToolOutput> {
  const job = await jobs.begin(run.sessionId, command, run.outputs, start)
  return { code: 'ok', text: `It runs as ${job.id}. The tool jobs reads its output and stops it.` }
}

async function folderOf(
  { cwd }: Arguments,
  scope: Pick<ToolScope, 'workspace' | 'access'>
): Promise<{ cwd: string; workspace: string } | { refusal: ToolOutput }> {
  const root = await locate(scope, '.', 'read')
  const found = await locate(scope, cwd ?? '.', 'read')
  if (!root.ok) return { refusal: root.refusal }
  if (!found.ok) return { refusal: found.refusal }
  const info = await stat(found.place.path).catch(() => undefined)
  if (!info?.isDirectory()) return { refusal: { code: 'not_found', text: `There is no folder ${found.place.name}. Nothing ran.` } }
  return { cwd: found.place.path, workspace: root.place.path }
}

const basisOf = (args: Arguments, cwd: string): string =>
  createHash('sha256')
    .update(JSON.stringify([args, cwd]))
    .digest('base64')

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Both streams are one, in the order in which they were written. */
function shellWords(command: string): readonly string[] {
  if (process.platform === 'win32') return ['cmd.exe', '/d', '/s', '/c', command]
  const shell = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh'
  return [shell, '-c', 'exec 2>&1; exec "$0" -c "$1"', shell, command]
}
