// Faults that people met in programs like ours, each as a small input with the outcome that must hold (test/cases/*.json). A runner plays every item
// through the product's own entry points. `TAU_CASES` names another folder of the same format.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Json = Readonly<Record<string, unknown>>
export interface Item<I> {
  readonly n: string
  readonly note: string
  readonly input: I
  readonly expect: Json
}

interface CaseFile {
  readonly id: string
  readonly summary: string
  readonly input: Json & { readonly items: readonly (Json & { readonly n: string })[] }
  readonly expect: { readonly items: readonly (Json & { readonly n: string })[] }
}

/** Items of a kind; what all items of a case share is part of each. None when the folder has no such kind. */
export function loadCases<I>(kind: string): Item<I>[] {
  const file = join(process.env['TAU_CASES'] ?? join(process.cwd(), 'test/cases'), `${kind}.json`)
  if (!existsSync(file)) return []
  const cases = JSON.parse(readFileSync(file, 'utf8')) as CaseFile[]
  return cases.flatMap(({ summary, input, expect }) => {
    const { items, ...shared } = input
    return items.map((item): Item<I> => {
      const expected = expect.items.find((e) => e.n === item.n)
      if (!expected) throw new Error(`${item.n} says nothing of what is expected`)
      const { n, ...rest } = expected
      return { n: item.n, note: summary, input: { ...shared, ...item } as I, expect: rest }
    })
  })
}

/** Judges an outcome: each key of `expect` by the check of that name. A key without a check fails the item: nothing passes unread. */
export async function judge(expected: Json, checks: Readonly<Record<string, (value: never) => unknown>>): Promise<void> {
  for (const [key, value] of Object.entries(expected)) {
    if (key === 'acceptable' || key === 'note') continue
    const check = checks[key]
    if (!check) throw new Error(`the runner has no check for "${key}"`)
    await check(value as never)
  }
}
