// The nodes of the sessions' trees (design §3.1): added, walked, never changed.
import type { TreeNode } from '../../../shared/contract'
import { callsOf, type Message, textOf } from '../../../shared/message'
import type { Entry } from '../../../shared/session'
import type { Connection } from '../open/connection'

/** A node and the session it is in. */
interface TreeNodeIn extends TreeNode {
  readonly sessionId: string
}
export interface EntryTable {
  /** Stores an entry; the session's head follows when it was at the parent. Throws when the parent is not stored in the same session. */
  add(entry: Entry): void
  find(sessionId: string, id: string): Entry | undefined
  /** Ids of the children of an entry (null: of the session), oldest first. */
  children(sessionId: string, parentId: string | null): string[]
  /** The newest entry below one, following the newest child each time; the entry itself when nothing is below it. */
  newestLeaf(sessionId: string, id: string): string
  /** From an entry up to its root, that is newest first. Reads as it is asked, so a caller may stop early. */
  up(sessionId: string, id: string | null): Generator<Entry>
  /** Every entry of a session in the order it was stored, so parents before children. */
  all(sessionId: string): Generator<Entry>
  count(sessionId: string): number
  /** Messages that contain the words, whatever their case (of Latin letters), newest first. */
  search(words: string, limit: number): TreeNodeIn[]
  /** All nodes without their words, in the order they were stored. */
  nodes(sessionId: string): TreeNode[]
}

interface EntryRow {
  n: number
  id: string
  session_id: string
  parent_id: string | null
  at: number
  type: string
  payload: string
}

/** Rows that one step of a walk reads: most trees are long chains, stored one after another. */
const BATCH = 256
const TEXT_CHARS = 120

export function entryTable(db: Connection): EntryTable {
  const insert = db.prepare('insert into entry (id, session_id, parent_id, at, type, payload) values (?, ?, ?, ?, ?, ?)')
  const advance = db.prepare('update session set head = iif(head is ?, ?, head), updated_at = ? where id = ?')
  const find = db.prepare<[string, string], EntryRow>('select * from entry where session_id = ? and id = ?')
  const below = db.prepare<[string, number, number], EntryRow>('select * from entry where session_id = ? and n < ? order by n desc limit ?')
  const after = db.prepare<[string, number, number], EntryRow>('select * from entry where session_id = ? and n > ? order by n limit ?')
  const children = db.prepare<[string, string | null], { id: string }>(
    'select id from entry where session_id = ? and parent_id is ? order by n'
  )
  // payloads are JSON, so the words are looked for as JSON has them
  const search = db.prepare<[string, number], EntryRow>(
    "select * from entry where type = 'message' and instr(lower(payload), lower(?)) > 0 order by n desc limit ?"
  )
  const count = db.prepare<[string], { count: number }>('select count(*) as count from entry where session_id = ?')

  function* up(sessionId: string, id: string | null): Generator<Entry> {
    let want = id
    let row = want === null ? undefined : find.get(sessionId, want)
    while (row) {
      let last: EntryRow = row
      yield toEntry(row)
      want = row.parent_id
      for (let met = true; met && want !== null;) {
        met = false
        for (const next of below.all(sessionId, last.n, BATCH)) {
          if (next.id !== want) continue
          met = true
          last = next
          yield toEntry(next)
          want = next.parent_id
          if (want === null) return
        }
      }
      row = want === null ? undefined : find.get(sessionId, want)
    }
  }
  function* rows(sessionId: string): Generator<EntryRow> {
    for (let n = -1; ;) {
      const batch = after.all(sessionId, n, BATCH)
      yield* batch
      const last = batch.at(-1)
      if (!last) return
      n = last.n
    }
  }
  return {
    add: (entry) => {
      const { id, sessionId, parentId, at, type, ...payload } = entry
      insert.run(id, sessionId, parentId, at, type, JSON.stringify(entry.type === 'message' ? entry.message : payload))
      advance.run(parentId, id, at, sessionId)
    },
    find: (sessionId, id) => {
      const row = find.get(sessionId, id)
      return row && toEntry(row)
    },
    children: (sessionId, parentId) => children.all(sessionId, parentId).map((r) => r.id),
    newestLeaf: (sessionId, id) => {
      for (let leaf = id; ;) {
        const next = children.all(sessionId, leaf).at(-1)
        if (!next) return leaf
        leaf = next.id
      }
    },
    up,
    *all(sessionId) {
      for (const row of rows(sessionId)) yield toEntry(row)
    },
    search: (words, limit) =>
      search.all(JSON.stringify(words).slice(1, -1), limit).map((row) => ({ ...toNode(toEntry(row)), sessionId: row.session_id })),
    count: (sessionId) => count.get(sessionId)?.count ?? 0,
    nodes: (sessionId) => Array.from(rows(sessionId), (row) => toNode(toEntry(row)))
  }
}

/** Payloads were checked by their types when they were written; the only writer is this program (design §3.2). */
export function toEntry(row: Omit<EntryRow, 'n'>): Entry {
  const node = { id: row.id, sessionId: row.session_id, parentId: row.parent_id, at: row.at }
  if (row.type === 'message') return { ...node, type: 'message', message: JSON.parse(row.payload) as Message }
  return { ...node, type: row.type, ...(JSON.parse(row.payload) as object) } as Entry
}

function toNode(entry: Entry): TreeNode {
  const { id, parentId, at } = entry
  return {
    id,
    parentId,
    at,
    kind: entry.type === 'message' ? entry.message.role : entry.type,
    text: wordsOf(entry).replaceAll(/\s+/g, ' ').trim().slice(0, TEXT_CHARS)
  }
}

function wordsOf(entry: Entry): string {
  switch (entry.type) {
    case 'message': {
      const text = textOf(entry.message)
      return text.trim() === ''
        ? callsOf(entry.message)
            .map((c) => `${c.name} ${c.arguments}`)
            .join(', ')
        : text.slice(0, 2_000)
    }
    case 'compaction':
    case 'branch_summary':
      return entry.summary.slice(0, 2_000)
    case 'model_change':
      return entry.model
    case 'imported':
      return entry.what
    case 'edit':
      return entry.message ? textOf(entry.message).slice(0, 2_000) : ''
  }
}
