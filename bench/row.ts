// What a row of the bench is, and the little arithmetic that rows share.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** One measured number. With a peer: the same work done by somebody else in the same run; `ratio` is ours over theirs, null when theirs is. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: 'ms' | 'us' | 'per_s' | 'mb' | 'count' | 'ratio'
  readonly peer?: number | null
  readonly ratio?: number | null
}
export interface Row {
  /** What the command line calls it; its figures are named after it. */
  readonly name: string
  run(): Promise<readonly Figure[]>
}

/** Milliseconds that `work` takes. */
export async function time(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** Throws on an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const low = sorted[(sorted.length - 1) >> 1]
  const high = sorted[sorted.length >> 1]
  if (low === undefined || high === undefined) throw new Error('a median of nothing')
  return (low + high) / 2
}

/**
 * Does two kinds of work in turns, each as often, beginning with the other one each time: what else the machine does meets both alike. Nothing is
 * returned for a kind that is not there.
 */
export async function inTurns<A, B>(
  runs: number,
  ours: () => Promise<A>,
  theirs: (() => Promise<B>) | undefined
): Promise<{ ours: readonly A[]; theirs: readonly B[] }> {
  const done = { ours: [] as A[], theirs: [] as B[] }
  for (let run = 0; run < runs; run++) {
    if (run % 2 === 0) done.ours.push(await ours())
    if (theirs) done.theirs.push(await theirs())
    if (run % 2 === 1) done.ours.push(await ours())
  }
  return done
}

export const round = (value: number, digits = 3): number => Number(value.toFixed(digits))

/** A figure beside a peer's; null where the peer could not be measured. */
export function compare(name: string, unit: Figure['unit'], ours: number, theirs: number | null): Figure {
  const ratio = theirs === null || theirs <= 0 ? null : round(ours / theirs, 4)
  return { name, value: round(ours), unit, peer: theirs === null ? null : round(theirs), ratio }
}

/** Null for an empty list: a peer that is not there. */
export const medianOrNull = (values: readonly number[]): number | null => (values.length === 0 ? null : median(values))

/** A module of `bench/peers`, which is not bundled; undefined, with the reason on standard error, where its packages could not be installed. */
export async function loadPeer<T>(path: string): Promise<T | undefined> {
  try {
    return (await import(/* @vite-ignore */ pathToFileURL(join(process.cwd(), 'bench/peers', path)).href)) as T
  } catch (error) {
    console.error(`no peer ${path}: ${error instanceof Error ? error.message : String(error)}`)
    return undefined
  }
}
