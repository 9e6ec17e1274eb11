// What is kept has a size and an age: the oldest goes first (spec T8).
import type { Shelf } from './shelf'

/** A look at a folder that nobody worked in for so long is taken anew. */
const ROOT_AGE_MS = 7 * 24 * 3_600_000

export function prune(shelf: Shelf, limits: { keptBytes: number; ageMs: number }, now: number): void {
  const { table, packs } = shelf
  const letGo = (): number => {
    const used = table.packs()
    const sizes = packs.sizes()
    packs.remove([...sizes.keys()].filter((pack) => !used.has(pack)))
    return [...packs.sizes().values()].reduce((sum, n) => sum + n, 0)
  }
  const calls = table.all()
  shelf.write(() => {
    for (const call of calls) if (now - call.at > limits.ageMs) table.remove(call.id)
    for (const root of table.roots()) if (now - root.usedAt > Math.min(ROOT_AGE_MS, limits.ageMs)) table.dropRoot(root.path)
  })
  let bytes = letGo()
  const left = table.all()
  for (const call of left) {
    if (bytes <= limits.keptBytes) return
    table.remove(call.id)
    bytes = letGo()
  }
  // only what folders hold now is left: it is read again when it is needed
  for (const root of table.roots()) {
    if (bytes <= limits.keptBytes) return
    table.dropRoot(root.path)
    shelf.forget(root.path)
    bytes = letGo()
  }
}
