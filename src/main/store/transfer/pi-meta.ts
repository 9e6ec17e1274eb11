// What lines of a Pi session file say beside the conversation: its name, names on nodes, side branches. Import and export read it with the same
// functions, so that a session that was not changed is known to be unchanged.
import type { Json } from '../../../shared/json'
import { isObject } from '../../../shared/json'
import { textOf } from '../../../shared/message'
import type { Entry, SideEnding } from '../../../shared/session'
import { firstLine } from '../../../shared/text'

/** A side branch as a file has it: ids are the file's. */
export interface SideLine {
  readonly from: string | null
  readonly home: string | null
  readonly name: string
  readonly startedAt: number
  readonly ending?: SideEnding
  readonly endedAt?: number
}
export interface Meta {
  /** Empty when the file gives none, or took it away. */
  name: string
  /** By the target's id in the file, in the order of the file. */
  readonly labels: Map<string, string>
  /** By `sideKey`; the last line of a side counts. */
  readonly sides: Map<string, SideLine>
}
export const SIDE = 'tau.side'
/** Where the conversation is, when no line of it can be the last one: its parent is the head. */
export const HEAD = 'tau.head'

const TITLE_CHARS = 200
const ENDINGS: ReadonlySet<unknown> = new Set<SideEnding>(['discard', 'keep', 'summary', 'insert'])

export const emptyMeta = (): Meta => ({ name: '', labels: new Map(), sides: new Map() })

/** Cheap test before a line is parsed: whether it may say something here. */
export const mayBeMeta = (line: string): boolean => /"(label|session_info|tau\.side)"/.test(line)

export function addMeta(meta: Meta, line: Json): void {
  const { type, targetId, label, name, customType, data } = line
  if (type === 'session_info') meta.name = titleOf(name)
  else if (type === 'label' && typeof targetId === 'string') {
    meta.labels.delete(targetId)
    // whole characters, as the database keeps them
    if (typeof label === 'string' && label !== '') meta.labels.set(targetId, label.toWellFormed())
  } else if (type === 'custom' && customType === SIDE && isObject(data)) {
    const side = sideOf(data)
    if (side) meta.sides.set(sideKey(side), side)
  }
}

export const sideKey = ({ from, home, name, startedAt }: SideLine): string => JSON.stringify([from, home, name, startedAt])

/** A title as the session would have it; empty when it says nothing. */
function titleOf(value: unknown): string {
  const words = typeof value === 'string' ? value.trim() : ''
  return words.slice(0, /[\ud800-\udbff]/.test(words.charAt(TITLE_CHARS - 1)) ? TITLE_CHARS - 1 : TITLE_CHARS).toWellFormed()
}

/** The title of a session whose file gives none: the first words of the person. */
export function firstWords(entries: Iterable<Pick<Entry, 'type'>>): string {
  for (const entry of entries as Iterable<Entry>) {
    const words = entry.type === 'message' && entry.message.role === 'user' ? textOf(entry.message).trim() : ''
    if (words !== '') return titleOf(firstLine(words, 60))
  }
  return ''
}

function sideOf(data: Json): SideLine | undefined {
  const { from, home, name, startedAt, ending, endedAt } = data
  const place = (id: unknown): id is string | null => id === null || typeof id === 'string'
  if (!place(from) || !place(home) || typeof name !== 'string' || !isTime(startedAt)) return undefined
  const end = ENDINGS.has(ending) && isTime(endedAt) ? { ending: ending as SideEnding, endedAt } : undefined
  return { from, home, name: name.toWellFormed(), startedAt, ...end }
}

/** Whole milliseconds that a date can hold. */
export const isTime = (value: unknown): value is number => Number.isInteger(value) && Math.abs(value as number) <= 8.64e15
