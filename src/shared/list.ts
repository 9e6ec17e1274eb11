// An append-only list whose copies share one array, as slices of Go do: appending costs the same at 10 and at 100,000 items, and an older
// copy still shows exactly what it showed. Folds can so be pure without copying their history for every event (design §3.10).

export interface List<T> {
  readonly length: number
  readonly items: readonly T[]
}

export const emptyList = <T>(): List<T> => ({ length: 0, items: [] })

/** A list that takes `items` over; the caller must not change the array afterwards. */
export const listOf = <T>(items: T[]): List<T> => ({ length: items.length, items })

/** The list with one more item; O(1) when `list` is the newest copy, else the shared part is copied once. */
export function append<T>(list: List<T>, item: T): List<T> {
  const items = list.items.length === list.length ? (list.items as T[]) : list.items.slice(0, list.length)
  items.push(item)
  return { length: items.length, items }
}

export const at = <T>(list: List<T>, index: number): T | undefined =>
  index < list.length ? list.items[index < 0 ? list.length + index : index] : undefined

/** A plain array of what the list shows now. */
export const toArray = <T>(list: List<T>): T[] => list.items.slice(0, list.length)
