// Chance that can be repeated: the same seed gives the same numbers.
export function random(seed: number): {
  readonly chance: (share: number) => boolean
  readonly pick: <T>(from: readonly T[]) => T
  /** A whole number from 0 to `most`. */
  readonly upTo: (most: number) => number
} {
  let state = seed >>> 0
  // mulberry32: small, and good enough to choose with
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    chance: (share) => next() < share,
    pick: (from) => from[Math.floor(next() * from.length)] as (typeof from)[number],
    upTo: (most) => Math.floor(next() * (most + 1))
  }
}
