// What the model will see (spec C3): the window less system, tools and the reserve for the answer is room for history, filled from the newest
// backwards in whole units.
//
// A context is kept from turn to turn and only told what is new, so a turn costs the same at 10 and at 100,000 messages (design §3.10). When the room is full, the oldest third
// goes at once and the cut stays there, so that the bytes of one request begin the next one for many turns (spec C7).
import type { Message, UserMessage } from '../../../shared/message'
import type { Entry } from '../../../shared/session'
import type { LoopContext } from '../../loop/loop'
import type { ToolSpec } from '../../models/model'
import { estimateMessage, estimateTokens, MESSAGE_TOKENS } from './estimate'
import { shorten } from './shorten'
import { addResult, answerUnit, isForeign, joinUser, messagesOf, type Unit, userUnit } from './units'

export interface ContextFrame {
  readonly system: string
  readonly tools: readonly ToolSpec[]
  /** Tokens of the request and its answer together. */
  readonly window: number
  /** Whether the model sees pictures. */
  readonly vision: boolean
}
interface ContextReport {
  /** Estimated tokens of each part. */
  readonly system: number
  readonly tools: number
  readonly history: number
  readonly reserve: number
  /** What history may take. */
  readonly room: number
  /** Whether older messages were left out to fit. */
  readonly cut: boolean
  /** Whether a picture was left out because the model has no vision. */
  readonly pictureLeftOut: boolean
}
export interface Context extends LoopContext {
  report(): ContextReport
}

/** How full the room is after the oldest went. */
const AFTER_CUT = 0.66
/** What the words that a cut turn began with may take of the room: one part in so many. */
const TASK_PART = 3
/** How full it is when a session is opened: some turns go before the first cut. */
const AT_OPEN = 0.9

/** A context with nothing in it yet. */
export function createContext(frame: ContextFrame): Context {
  const reserve = Math.max(128, Math.min(4_096, Math.floor(frame.window / 4)))
  const system = estimateTokens(frame.system) + MESSAGE_TOKENS
  const tools = frame.tools.length === 0 ? 0 : estimateTokens(JSON.stringify(frame.tools))
  const room = Math.max(0, frame.window - reserve - system - tools)
  const callIds = new Set<string>()
  let units: Unit[] = []
  let total = 0
  let cut = false
  let pictureLeftOut = false
  let foreign = false
  /** Messages of the units before the last one: they do not change any more. */
  let flat: Message[] = []
  let rendered = 0

  function grown(tokens: number): void {
    total += tokens
    if (total > room) dropOldest()
  }

  /** The newest unit always stays, and with it what the person asked for. */
  function dropOldest(): void {
    const first = units.findIndex((unit, i) => {
      if (i === units.length - 1 || total <= room * AFTER_CUT) return true
      total -= unit.tokens
      return false
    })
    if (first <= 0) return
    const task = units.slice(0, first).findLast((u) => u.kind === 'user')
    units = units.slice(first)
    if (units[0]?.kind !== 'user') {
      const [words] = task ? shorten(messagesOf(task), room / TASK_PART) : []
      const unit = userUnit(leftOut(words, first > 1), frame.vision)
      if (unit) {
        units.unshift(unit)
        total += unit.tokens
      }
    }
    cut = true
    foreign = units.some(isForeign)
    flat = []
    rendered = 0
  }

  return {
    add(message) {
      const last = units.at(-1)
      if (message.role === 'tool') {
        const before = last?.tokens ?? 0
        if (last && addResult(last, message, frame.vision)) {
          if (message.foreign) foreign = true
          grown(last.tokens - before)
        }
        return
      }
      if (message.role === 'user' && !frame.vision && message.parts.some((p) => p.type === 'image')) pictureLeftOut = true
      const unit = message.role === 'user' ? userUnit(message, frame.vision) : answerUnit(message)
      if (!unit) return
      if (unit.kind === 'answer') {
        for (const call of unit.calls) callIds.add(call.id)
        // what was before is not known: many models accept only a conversation that a person begins
        if (!last) this.add(leftOut(undefined, true))
      }
      if (unit.kind === 'user' && last?.kind === 'user') joinUser(last, unit)
      else units.push(unit)
      grown(unit.tokens)
    },
    hasCall: (id) => callIds.has(id),
    get foreign() {
      return foreign
    },
    request() {
      for (; rendered < units.length - 1; rendered++) flat.push(...messagesOf(units[rendered] as Unit))
      const last = units.at(-1)
      const whole = last ? [...flat, ...messagesOf(last)] : []
      const messages = total > room ? shorten(whole, room) : whole
      return { system: frame.system, messages, tools: frame.tools, maxOutputTokens: reserve }
    },
    report: () => ({ system, tools, history: Math.min(total, room), room, reserve, cut, pictureLeftOut })
  }
}

const LEFT_OUT = "[Older messages of this conversation were left out here to fit the model's window.]"

/** What the person asked for, as the first message after a cut in the middle of a turn. */
function leftOut(task: Message | undefined, mark: boolean): UserMessage {
  const parts = task?.role === 'user' ? task.parts.filter((p) => p.type !== 'text' || p.text !== LEFT_OUT) : []
  return { role: 'user', parts: mark || parts.length === 0 ? [...parts, { type: 'text', text: LEFT_OUT }] : parts }
}

/** The context at an entry: reads `up` (newest first, as the store walks) only as far as the room goes. */
export function contextAt(frame: ContextFrame, up: Iterable<Entry>): Context {
  const context = createContext(frame)
  for (const message of newestMessages(up, context.report().room * AT_OPEN)) context.add(message)
  return context
}

/**
 * Messages of a path, oldest first, as many of the newest as `room` holds, beginning with words of the person where there are any. A
 * compaction stands for what comes before the entry it keeps from; edits replace or hide their targets; a branch summary is told like words of
 * the person (design §4).
 */
function newestMessages(up: Iterable<Entry>, room: number): Message[] {
  const newest: Message[] = []
  const edits = new Map<string, Message | null>()
  let summary: { text: string; keepsFrom: string | null } | undefined
  let left = room
  for (const entry of up) {
    if (summary && summary.keepsFrom === null) break
    let message: Message | undefined
    if (entry.type === 'edit') {
      if (!edits.has(entry.targetId)) edits.set(entry.targetId, entry.message)
    } else if (entry.type === 'compaction') summary ??= { text: entry.summary, keepsFrom: entry.keepsFrom }
    else if (entry.type === 'branch_summary') message = told(branchWords(entry))
    else if (entry.type === 'message') message = edits.has(entry.id) ? (edits.get(entry.id) ?? undefined) : entry.message
    if (message) {
      left -= estimateMessage(message)
      newest.push(message)
    }
    if (entry.id === summary?.keepsFrom) break
    if (left < 0 && (message?.role === 'user' || left < -room)) break
  }
  if (summary) newest.push(told(`Summary of the conversation so far:\n\n${summary.text}`))
  return newest.reverse()
}

const told = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })

function branchWords({ summary, files }: Extract<Entry, { type: 'branch_summary' }>): string {
  const list = (what: string, paths: readonly string[]): string => (paths.length === 0 ? '' : `\n\n${what}: ${paths.join(', ')}`)
  return `Summary of another branch of this conversation:\n\n${summary}${list('Files read', files.read)}${list('Files changed', files.changed)}`
}
