// Moving about in the tree (spec S1, S3): going elsewhere, with a summary of what is left or without; side branches and how they end; names.
import type { Entry, SideBranch, SideEnding } from '../../shared/session'
import { repointed } from '../../shared/tree'
import { newId } from '../store/id'
import { type Add, added, type Desk, isEntry } from './desk'
import { conflict, done, notFound, type Outcome } from './scope'
import { type BranchSummary, filesOf, leftBehind, summarize } from './summary'

interface Where {
  readonly entryId: string | null
  /** To the newest entry below it. */
  readonly leaf?: boolean | undefined
  /** Sum up the branch that is left. */
  readonly summary?: boolean | undefined
}
export interface Branches {
  goTo(where: Where): Promise<Outcome<{ head: string | null }>>
  readonly label: (entryId: string, label: string) => Outcome<{ seq: number }>
  readonly beginSide: (entryId: string | null | undefined, name: string) => Outcome<SideBranch>
  endSide(sideId: string, ending: SideEnding): Promise<Outcome<{ head: string | null }>>
}

/** A call, as the compiler takes a second look for the first. */
const isRunning = (desk: Desk): boolean => desk.active !== undefined

const NO_ENTRY = 'There is no such message in this session.'

export function createBranches(desk: Desk): Branches {
  const { id, scope, log } = desk
  const { store } = scope

  function move(to: string | null): void {
    if (to === desk.head) return
    log.commit((add) => {
      store.sessions.setHead(id, to)
      add({ type: 'head', head: to })
    })
    desk.head = to
  }

  /** The branch from the head up to where it leaves the path of `to`, summed up by the session's model; nothing is stored yet. */
  async function sumUp(to: string | null): Promise<Outcome<BranchSummary>> {
    if (desk.summing) return conflict('A summary is being written already.')
    const entries = leftBehind(store, id, desk.head, to)
    if (entries.length === 0) return conflict('Nothing would be left behind, so there is nothing to sum up.')
    const stop = (desk.summing = new AbortController())
    try {
      const opened = await scope.openModel(desk.info.model === '' ? scope.defaultModel() : desk.info.model)
      if (!opened.ok) return { ok: false, code: 'MODEL_FAILED', message: opened.error.message }
      return await summarize(entries, opened.model, stop.signal)
    } finally {
      desk.summing = undefined
    }
  }

  /** Stores a summary at `at` and moves the head to it. */
  function bring({ text, from, model }: BranchSummary, entries: readonly Entry[], at: string | null, more?: (add: Add) => void): string {
    const entry: Entry = {
      id: newId(),
      sessionId: id,
      parentId: at,
      at: scope.now(),
      type: 'branch_summary',
      summary: text,
      from,
      files: filesOf(entries, scope.registry),
      model
    }
    log.commit((add) => {
      more?.(add)
      if (desk.head !== at) {
        store.sessions.setHead(id, at)
        add({ type: 'head', head: at })
      }
      store.entries.add(entry)
      add({ type: 'entry', entry })
    })
    desk.head = at
    added(desk, entry)
    return entry.id
  }

  return {
    async goTo({ entryId, leaf = false, summary = false }) {
      if (entryId !== null && !isEntry(desk, entryId)) return notFound(NO_ENTRY)
      const to = entryId !== null && leaf ? store.entries.newestLeaf(id, entryId) : entryId
      if (!summary) {
        move(to)
        return done({ head: to })
      }
      if (desk.active) return conflict('A run is going on. Stop it before its branch is summed up.')
      const entries = leftBehind(store, id, desk.head, to)
      const made = await sumUp(to)
      if (!made.ok) return made
      if (isRunning(desk)) return conflict('A run began meanwhile, so the summary was not stored.')
      return done({ head: bring(made.value, entries, to) })
    },
    label(entryId, label) {
      if (!isEntry(desk, entryId)) return notFound(NO_ENTRY)
      const name = label === '' ? null : label
      log.commit((add) => {
        store.sessions.setLabel(id, entryId, name, scope.now())
        add({ type: 'label', entryId, label: name })
      })
      return done({ seq: log.lastSeq })
    },
    beginSide(entryId, name) {
      if (desk.active) return conflict('A run is going on. Stop it before you branch.')
      const from = entryId === undefined ? desk.head : entryId
      if (from !== null && !isEntry(desk, from)) return notFound(NO_ENTRY)
      const side: SideBranch = { id: newId(), from, home: desk.head, name, startedAt: scope.now() }
      log.commit((add) => {
        store.sides.begin(id, side)
        add({ type: 'side', side })
        if (from !== desk.head) {
          store.sessions.setHead(id, from)
          add({ type: 'head', head: from })
        }
      })
      desk.head = from
      return done(side)
    },
    async endSide(sideId, ending) {
      if (desk.active) return conflict('A run is going on. Stop it before the side branch ends.')
      const side = store.sides.open(id).find((s) => s.id === sideId)
      if (!side) return notFound('This side branch has ended already.')
      const entries = sideEntries(desk, side)
      if (!entries) return conflict('Go to the side branch first: the head is elsewhere.')
      const ended = (add: Add): void => {
        store.sides.end(side.id, ending, scope.now())
        add({ type: 'side', side, ending })
      }
      if (ending === 'summary' && entries.length > 0) {
        const made = await sumUp(side.home)
        if (!made.ok) return made
        if (isRunning(desk)) return conflict('A run began meanwhile, so the summary was not stored.')
        return done({ head: bring(made.value, entries, side.home, ended) })
      }
      // a side branch that grew right from the head is in its place already
      const inPlace = ending === 'insert' && side.from === side.home
      const copies = ending === 'insert' && !inPlace ? copiesOf(entries, id, side.home, scope.now()) : []
      const head = inPlace ? desk.head : side.home
      log.commit((add) => {
        ended(add)
        if (desk.head !== head) {
          store.sessions.setHead(id, head)
          add({ type: 'head', head })
        }
        for (const entry of copies) {
          store.entries.add(entry)
          add(entry.type === 'message' ? { type: 'message_end', entry } : { type: 'entry', entry })
        }
      })
      desk.head = head
      for (const entry of copies) added(desk, entry)
      return done({ head: desk.head })
    }
  }
}

/** Entries of a side branch, oldest first; undefined when the head is not on it. */
function sideEntries(desk: Desk, side: SideBranch): Entry[] | undefined {
  const entries: Entry[] = []
  for (const entry of desk.scope.store.entries.up(desk.id, desk.head)) {
    if (entry.id === side.from) return entries.reverse()
    entries.push(entry)
  }
  return side.from === null ? entries.reverse() : undefined
}

/** The same entries under another parent, with new ids. */
export function copiesOf(entries: readonly Entry[], sessionId: string, parentId: string | null, at: number): Entry[] {
  const ids = new Map<string, string>()
  return entries.map((entry) => {
    const id = newId()
    ids.set(entry.id, id)
    const parent = entry.parentId === null ? undefined : ids.get(entry.parentId)
    return { ...repointed(entry, ids), id, sessionId, parentId: parent ?? parentId, at: at === 0 ? entry.at : at }
  })
}
