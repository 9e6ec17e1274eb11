// How long a local model may be silent. Loading and reading a long prompt are slow and quiet on ordinary machines, so one limit for all
// phases would either break cold starts or hide dead servers.

export interface Limits {
  /** Milliseconds to the first frame of a model that is not in memory. */
  readonly coldMs: number
  /** Milliseconds to the first frame of a model that is loaded. */
  readonly warmMs: number
  /** Milliseconds between two frames. */
  readonly idleMs: number
}

export interface Work {
  /** Bytes of the model file, where known. */
  readonly size?: number
  /** Characters of the request. */
  readonly characters: number
  /** Tokens that the answer may have. */
  readonly maxOutput: number
  /** A call is silent while it is being written. */
  readonly tools: boolean
}

/** Limits for slow machines: 80 MB/s from disk, 20 tokens/s read, 3 tokens/s written. */
export function limitsFor({ size = 0, characters, maxOutput, tools }: Work): Limits {
  const readMs = (characters / 4 / 20) * SECOND
  return {
    coldMs: Math.min(60 * SECOND + (size / 80e6) * SECOND + readMs, 20 * MINUTE),
    warmMs: Math.min(30 * SECOND + 2 * readMs, 15 * MINUTE),
    idleMs: tools ? Math.min(Math.max(2 * MINUTE, 1.5 * (maxOutput / 3) * SECOND), 15 * MINUTE) : 45 * SECOND
  }
}

/** Calls back once when it was set and not set again in time. */
export interface Watchdog {
  set(ms: number, late: () => void): void
  stop(): void
}

export function createWatchdog(): Watchdog {
  let timer: NodeJS.Timeout | undefined
  return {
    set(ms, late) {
      clearTimeout(timer)
      timer = setTimeout(late, ms)
    },
    stop() {
      clearTimeout(timer)
    }
  }
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
