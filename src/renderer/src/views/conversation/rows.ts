// The path of a session as rows of the conversation: a person's message, or an answer together with the results of its calls.
import type { Entry } from '../../../../shared/session'
import type { AssistantMessage, ToolMessage, UserMessage } from '../../../../shared/message'
import type { Tree } from '../../../../shared/tree'
import type { Draft } from '../../../../shared/view'

export type UserRow = { readonly kind: 'user'; readonly id: string; readonly entry: Entry; readonly message: UserMessage }
export type AnswerRow = {
  readonly kind: 'answer'
  readonly id: string
  readonly entry: Entry
  readonly message: AssistantMessage
  /** Results by call. */
  readonly results: ReadonlyMap<string, ToolMessage>
}
/** The answer that is being written; it becomes the row with the same id, and keeps its elements. */
export type DraftRow = { readonly kind: 'draft'; readonly id: string; readonly draft: Draft }
/** A summary that stands for other messages. */
export type SummaryRow = {
  readonly kind: 'summary'
  readonly id: string
  readonly entry: Extract<Entry, { type: 'branch_summary' | 'compaction' }>
}
export type Row = UserRow | AnswerRow | SummaryRow

export interface Rows {
  /** Rows for the virtual list; the array stays the same one as long as its rows do. */
  readonly listed: readonly Row[]
  /** The newest rows. They stand outside the list, so that finishing a message moves nothing. */
  readonly tail: readonly Row[]
}

const TAIL = 10
const MOST_IN_TAIL = 36

/** Turns trees into rows. Rows that did not change are the same objects as before, so they are not drawn again. */
export class RowMaker {
  #rows: Row[] = []
  #path: readonly Entry[] = []
  #done = 0
  #listed: readonly Row[] = []

  update({ path }: Tree): Rows {
    const grew = path.items === this.#path && path.length >= this.#done
    if (!grew) {
      this.#rows = []
      this.#done = 0
    }
    for (; this.#done < path.length; this.#done++) {
      const entry = path.items[this.#done]
      if (entry) this.#add(entry)
    }
    this.#path = path.items
    if (!grew || this.#rows.length - this.#listed.length > MOST_IN_TAIL)
      this.#listed = this.#rows.slice(0, Math.max(0, this.#rows.length - TAIL))
    return { listed: this.#listed, tail: this.#rows.slice(this.#listed.length) }
  }

  #add(entry: Entry): void {
    if (entry.type === 'branch_summary' || entry.type === 'compaction') this.#rows.push({ kind: 'summary', id: entry.id, entry })
    if (entry.type !== 'message') return
    const { message } = entry
    if (message.role === 'user') this.#rows.push({ kind: 'user', id: entry.id, entry, message })
    else if (message.role === 'assistant') this.#rows.push({ kind: 'answer', id: entry.id, entry, message, results: new Map() })
    else this.#addResult(message)
  }

  #addResult(result: ToolMessage): void {
    for (let i = this.#rows.length - 1; i >= 0; i--) {
      const row = this.#rows[i]
      if (row?.kind !== 'answer') continue
      this.#rows[i] = { ...row, results: new Map(row.results).set(result.callId, result) }
      return
    }
  }
}
