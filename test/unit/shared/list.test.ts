import fc from 'fast-check'
import { expect, it } from 'vitest'
import { append, at, emptyList, type List, listOf, toArray } from '../../../src/shared/list'

it('keeps every older copy as it was, however the copies are grown', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(), fc.nat(100)), { maxLength: 60 }), (steps) => {
      const copies: { list: List<number>; plain: number[] }[] = [{ list: emptyList(), plain: [] }]
      for (const [which, value] of steps) {
        const from = copies[which % copies.length]
        if (from) copies.push({ list: append(from.list, value), plain: [...from.plain, value] })
      }
      for (const { list, plain } of copies) expect(toArray(list)).toEqual(plain)
    })
  )
})

it('shares the items of the newest copy instead of copying them', () => {
  const one = append(listOf([1, 2, 3]), 4)
  expect(append(one, 5).items).toBe(one.items)
  expect(at(one, -1)).toBe(4)
  expect(at(one, 4)).toBeUndefined()
})
