// A queue between one who pushes and one who iterates; what is pushed after the end is dropped.

export interface Channel<T> extends AsyncIterable<T> {
  push(item: T): void
  /** Ends it; `last` is still handed out. Only the first call counts. */
  end(last?: T): void
}

export function createChannel<T>(): Channel<T> {
  const items: T[] = []
  let ended = false
  let wake = Promise.withResolvers<undefined>()
  const ring = (): void => {
    wake.resolve(undefined)
    wake = Promise.withResolvers()
  }
  return {
    push(item) {
      if (ended) return
      items.push(item)
      ring()
    },
    end(last) {
      if (ended) return
      if (last !== undefined) items.push(last)
      ended = true
      ring()
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const rung = wake.promise
        const next = items.splice(0)
        yield* next
        if (next.length === 0) {
          if (ended) return
          await rung
        }
      }
    }
  }
}
