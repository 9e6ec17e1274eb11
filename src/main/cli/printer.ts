// Events as a terminal shows them, or as JSON lines.
import { styleText } from 'node:util'
import type { SessionEvent } from '../../shared/event'
import type { StopCause } from '../../shared/session'
import { text } from './text'
import { text as trust } from './trust/text'

export interface Printer {
  print(event: SessionEvent): void
}

/** `json`: each event as one line on standard output, nothing else. */
export function createPrinter(json: boolean): Printer {
  const names = new Map<string, string>()
  let column = 0
  let phase = ''
  const say = (words: string): void => {
    const plain = inert(words)
    process.stdout.write(plain)
    if (plain !== '') column = plain.endsWith('\n') ? 0 : 1
  }
  const note = (words: string): void => {
    if (column > 0) process.stdout.write('\n')
    column = 0
    process.stderr.write(`${styleText('dim', words)}\n`)
  }
  return {
    print(event) {
      if (json) {
        process.stdout.write(`${JSON.stringify(event)}\n`)
        return
      }
      switch (event.type) {
        case 'message_update':
          if (event.part === 'text') say(event.delta)
          else if (phase !== 'thinking') note(text[(phase = 'thinking')])
          break
        case 'message_phase':
          if (event.phase.phase !== 'writing' && event.phase.phase !== phase) note(text[(phase = event.phase.phase)])
          break
        case 'message_end':
          phase = ''
          if (event.entry.type === 'message' && event.entry.message.role === 'assistant' && column > 0) say('\n')
          break
        case 'tool_start':
          names.set(event.callId, event.name)
          note(text.tool(inert(event.name), inert(event.arguments)))
          break
        case 'tool_end':
          note(text.toolEnd(inert(names.get(event.callId) ?? ''), event.code, event.durationMs))
          break
        case 'retry':
          note(text.retry(event.attempt, event.attempts, Math.ceil(event.waitMs / 1_000), inert(event.error.message)))
          break
        case 'kept': {
          const { changes, id } = event.kept
          const sum = (key: 'added' | 'removed'): number => changes.reduce((n, c) => n + c[key], 0)
          note(trust.kept(changes.length, sum('added'), sum('removed'), id))
          break
        }
        case 'notice':
          note(event.message)
          break
        case 'agent_end':
          if (event.cause.kind !== 'natural') note(endOf(event.cause))
          break
        default:
          break
      }
    }
  }
}

function endOf(cause: StopCause): string {
  switch (cause.kind) {
    case 'error':
      return text.failed(inert(cause.error.message))
    case 'budget':
      return text.budget(cause.budget, cause.limit)
    case 'repetition':
      return text.repetition(inert(cause.tool ?? '?'), cause.times ?? 0)
    case 'terminated':
      return text.terminated(inert(cause.by), inert(cause.reason ?? ''))
    default:
      return text.stopped
  }
}

/** Text that cannot steer the terminal: a model or a file may hold escape codes or turn the reading order (design §3.12). Line breaks and tabs stay. */
export const inert = (words: string): string => words.replaceAll(/(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu, '\ufffd')
