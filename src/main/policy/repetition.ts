// A model that goes in circles (spec G2): a turn in which every call was made before, with the same arguments and the same result, brings nothing
// new. After a few such turns the model is told once; when it goes on all the same, the run ends, within ten requests. It does not matter how
// long the circle is. A turn with one new result begins the count anew, so waiting for something that changes is no repetition.

/** Turns without anything new: told after `tell`, ended after `end`. A failing call is less likely to come out better than any other. */
interface Patience {
  readonly tell: number
  readonly end: number
}
const FAILING: Patience = { tell: 2, end: 4 }
const WORKING: Patience = { tell: 3, end: 6 }
/** Turns in a row in which no call could even be read: whatever else changes, the model cannot work with its tools. */
const UNREADABLE: Patience = { tell: 3, end: 8 }
const UNREADABLE_CODES: ReadonlySet<string> = new Set(['unknown_tool', 'bad_json', 'invalid_arguments', 'cut_off'])

export interface CallOutcome {
  readonly name: string
  /** Arguments as the model wrote them. */
  readonly raw: string
  readonly code: string
  readonly text: string
}
export interface Repetition {
  /** How often this very call came out this way before in the run, and whether the model should be told now. */
  note(outcome: CallOutcome): { readonly times: number; readonly tell: boolean }
  /** Ends the turn; what comes back says why the run must end, if it must. */
  endTurn(): { readonly tool: string; readonly times: number } | undefined
}

/** Watches one run. Remembers a digest of each outcome, not the outcome. */
export function watchRepetition(digest: (text: string) => string): Repetition {
  const seen = new Map<string, number>()
  let turn: { outcome: CallOutcome; times: number }[] = []
  let stale = 0
  let unreadable = 0
  const patience = (outcomes: readonly CallOutcome[]): Patience => (outcomes.every((o) => o.code !== 'ok') ? FAILING : WORKING)
  return {
    note(outcome) {
      const key = digest(JSON.stringify([outcome.name, outcome.raw.trim(), outcome.code, outcome.text]))
      const times = seen.get(key) ?? 0
      seen.set(key, times + 1)
      turn.push({ outcome, times })
      const known = times > 0 && stale + 1 >= patience([outcome]).tell
      return { times, tell: known || (UNREADABLE_CODES.has(outcome.code) && unreadable + 1 >= UNREADABLE.tell) }
    },
    endTurn() {
      const last = turn
      turn = []
      const [first] = last
      if (!first) return undefined
      stale = last.every((t) => t.times > 0) ? stale + 1 : 0
      unreadable = last.every((t) => UNREADABLE_CODES.has(t.outcome.code)) ? unreadable + 1 : 0
      const outcomes = last.map((t) => t.outcome)
      if (stale >= patience(outcomes).end) return { tool: first.outcome.name, times: first.times + 1 }
      if (unreadable >= UNREADABLE.end) return { tool: first.outcome.name, times: unreadable }
      return undefined
    }
  }
}
