import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createQueue, type JobOwner, type TaskQueue } from '../../../src/main/loop/queue'

const never = new AbortController().signal
const of = (sessionId: string, callId = 'c'): JobOwner => ({ sessionId, runId: 'r', callId, tool: 't' })

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
              return queue.add(`/${lane}`, { owner: of('s'), exclusive, run }, never)
            })
          )
          for (const lane of ['a', 'b']) {
            const mine = order.filter((n) => jobs[n]?.lane === lane)
            expect(mine).toEqual([...mine].sort((x, y) => x - y))
          }
          expect(queue.work()).toEqual([])
        }
      )
    )
  })

  it('lets a waiting job go when its run is stopped, and runs the next', async () => {
    const queue = createQueue()
    const stop = new AbortController()
    const ran: string[] = []
    const first = queue.add('/w', { owner: of('s'), exclusive: true, run: () => sleep(20).then(() => void ran.push('first')) }, never)
    const second = queue.add('/w', { owner: of('s'), exclusive: true, run: () => Promise.resolve(void ran.push('second')) }, stop.signal)
    const third = queue.add('/w', { owner: of('s'), exclusive: true, run: () => Promise.resolve(void ran.push('third')) }, never)
    stop.abort()
    expect(await second).toBe('cancelled')
    await Promise.all([first, third])
    expect(ran).toEqual(['first', 'third'])
  })

  it('goes on after a job that throws', async () => {
    const queue = createQueue()
    await expect(queue.add('/w', { owner: of('s'), exclusive: true, run: () => Promise.reject(new Error('no')) }, never)).rejects.toThrow(
      'no'
    )
    expect(await queue.add('/w', { owner: of('s'), exclusive: true, run: () => Promise.resolve() }, never)).toBe('done')
  })

  it('takes folders that contain each other for one lane, and others for their own', async () => {
    const queue = createQueue()
    const gate = Promise.withResolvers<undefined>()
    const ran: string[] = []
    const add = (folder: string): Promise<unknown> =>
      queue.add(folder, { owner: of(folder), exclusive: true, run: () => Promise.resolve(void ran.push(folder)) }, never)
    const first = queue.add('/a/b', { owner: of('first'), exclusive: true, run: () => gate.promise }, never)
    const rest = [add('/a'), add('/a/b/c'), add('/ab'), add('/a/bc')]
    await sleep(1)
    expect(ran).toEqual(['/ab']) // `/a/bc` waits as well: `/a` came before it
    gate.resolve(undefined)
    await Promise.all([first, ...rest])
    expect(ran.slice(0, 2)).toEqual(['/ab', '/a'])
    expect(ran.slice(2).sort()).toEqual(['/a/b/c', '/a/bc'])
  })

  it('is fair: a session with one call does not wait for all hundred of another', async () => {
    const queue = createQueue()
    const order: string[] = []
    const add = (who: string): Promise<unknown> =>
      queue.add('/w', { owner: of(who), exclusive: true, run: async () => void order.push((await sleep(0), who)) }, never)
    const all = [...Array.from({ length: 100 }, () => add('many')), add('one')]
    await Promise.all(all)
    expect(order.indexOf('one')).toBe(1)
    expect(order.filter((w) => w === 'many')).toHaveLength(100)
  })

  it('lets no stream of readers starve an effect', async () => {
    const queue = createQueue(4)
    let done = false as boolean
    const read = (n: number): Promise<unknown> =>
      queue.add('/w', { owner: of(`reader ${String(n % 3)}`), exclusive: false, run: () => sleep(2).then(() => undefined) }, never)
    const readers = Array.from({ length: 8 }, (_, n) => read(n))
    const effect = queue.add('/w', { owner: of('writer'), exclusive: true, run: () => Promise.resolve(void (done = true)) }, never)
    let later = 0
    while (!done && later < 200) {
      readers.push(read(later++))
      await sleep(1)
    }
    await effect
    expect(later).toBeLessThan(50)
    await Promise.all(readers)
  })

  it('says who waits for whom, and tells of every change', async () => {
    const queue: TaskQueue = createQueue(8, () => 7)
    const gate = Promise.withResolvers<undefined>()
    let told = 0
    const behind: string[] = []
    const unwatch = queue.watch(() => told++)
    const add = (callId: string, exclusive: boolean): Promise<unknown> =>
      queue.add(
        '/w',
        {
          owner: of('s', callId),
          exclusive,
          run: () => gate.promise,
          waits: (owners) => void behind.push(owners.map((o) => o.callId).join())
        },
        never
      )
    const all = [add('a', true), add('b', false), add('c', true)]
    const seen = queue.work().map(({ callId, state, behind: ids }) => [callId, state, ids.length])
    expect(seen).toEqual([
      ['a', 'running', 0],
      ['b', 'waiting', 1],
      ['c', 'waiting', 2]
    ])
    expect(behind).toEqual(['a', 'a,b'])
    await sleep(1)
    expect(told).toBe(1)
    gate.resolve(undefined)
    await Promise.all(all)
    await sleep(1)
    expect(queue.work()).toEqual([])
    expect(told).toBeGreaterThan(1)
    unwatch()
  })
})
