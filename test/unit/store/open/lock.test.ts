// One owner of a data folder, also when several programs reach for it at the same moment.
import { describe, expect, it } from 'vitest'
import { freshFolder } from '../../../support/harness'
import { run } from './support'

describe('the lock of a data folder', () => {
  it('goes to exactly one of many programs that start at the same moment', { timeout: 60_000 }, async () => {
    // a busy machine stops a program anywhere for a while, so each of them pauses before whatever it does to the file
    const HOW_MANY = 6
    const ROUNDS = 10
    const at = Date.now() + 2_000
    const base = freshFolder('locks')
    const ended = freshFolder('ended')
    // every program goes through the same folders, one every second, and keeps what it gets until all have tried
    const program = (): Promise<{ out: string }> =>
      run(`
        const { lockFolder } = STORE(open/lock.ts)
        const got = [], held = []
        const pause = new Int32Array(new SharedArrayBuffer(4)), exec = Database.prototype.exec
        Database.prototype.exec = function (sql) { Atomics.wait(pause, 0, 0, Math.random() * 300); return exec.call(this, sql) }
        for (let round = 0; round < ${String(ROUNDS)}; round++) {
          while (Date.now() < ${String(at)} + round * 1_000);
          try { held.push(lockFolder(${JSON.stringify(base)} + '/' + round, 'test')); got.push(round) }
          catch (error) { if (error.code !== 'in_use') throw error }
        }
        console.log(JSON.stringify(got))
        fs.writeFileSync(${JSON.stringify(ended)} + '/' + process.pid, '')
        const wait = setInterval(() => { if (fs.readdirSync(${JSON.stringify(ended)}).length === ${String(HOW_MANY)}) { clearInterval(wait); held.forEach((lock) => lock.release()) } }, 20)`)
    const programs = await Promise.all(Array.from({ length: HOW_MANY }, program))
    const got = programs.flatMap((p) => JSON.parse(p.out) as number[]).sort((a, b) => a - b)
    expect(got).toEqual(Array.from({ length: ROUNDS }, (_, round) => round))
  })
})
