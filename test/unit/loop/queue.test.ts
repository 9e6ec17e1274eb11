import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createQueue } from '../../../src/main/loop/queue'

const never = new AbortController().signal

describe('the task queue', () => {
  it('runs an effect alone in its lane, reads beside each other, and everything once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ lane: fc.constantFrom('a', 'b'), exclusive: fc.boolean(), ticks: fc.nat(3) }), { maxLength: 25 }),
        async (jobs) => {
          const queue = createQueue(3)
          const running = { a: [] as boolean[], b: [] as boolean[] }
          const order: number[] = []
          await Promise.all(
            jobs.map(({ lane, exclusive, ticks }, n) => {
              const here = lane === 'a' ? running.a : running.b
              const run = async (): Promise<void> => {
                if (exclusive) order.push(n)
                here.push(exclusive)
                if (here.length > 1) expect(here).not.toContain(true)
                expect(here.length).toBeLessThanOrEqual(3)
                for (let i = 0; i < ticks; i++) await Promise.resolve()
                here.splice(here.indexOf(exclusive), 1)
              }
              return queue.add(lane, { exclusive, run }, never)
            })
          )
          for (const lane of ['a', 'b']) {
            const mine = order.filter((n) => jobs[n]?.lane === lane)
            expect(mine).toEqual([...mine].sort((x, y) => x - y))
          }
          expect(queue.waiting('a') + queue.waiting('b')).toBe(0)
        }
      )
    )
  })

  it('lets a waiting job go when its run is stopped, and runs the next', async () => {
    const queue = createQueue()
    const stop = new AbortController()
    const ran: string[] = []
    const first = queue.add('w', { exclusive: true, run: () => sleep(20).then(() => void ran.push('first')) }, never)
    const second = queue.add('w', { exclusive: true, run: () => Promise.resolve(void ran.push('second')) }, stop.signal)
    const third = queue.add('w', { exclusive: true, run: () => Promise.resolve(void ran.push('third')) }, never)
    stop.abort()
    expect(await second).toBe('cancelled')
    await Promise.all([first, third])
    expect(ran).toEqual(['first', 'third'])
  })

  it('goes on after a job that throws', async () => {
    const queue = createQueue()
    await expect(queue.add('w', { exclusive: true, run: () => Promise.reject(new Error('no')) }, never)).rejects.toThrow('no')
    expect(await queue.add('w', { exclusive: true, run: () => Promise.resolve() }, never)).toBe('done')
  })
})
