// A real file system that is full after so many more bytes: the write that meets its end is another one each time.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Tool } from '../../../src/main/loop/tool'
import { textOf } from '../../../src/shared/message'
import { emptyView, fold, plainView } from '../../../src/shared/view'
import { viewOf } from '../../../src/shared/snapshot'
import { eventsOf, openHarness, say, scripted } from '../../support/harness'

const disk = mkdtempSync(join(tmpdir(), 'tau-disk-'))
/** Mounts a small file system; false, and the tests are counted as skipped, where this process may not. */
function mountable(): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
afterAll(() => {
  try {
    execFileSync('umount', [disk], { stdio: 'ignore' })
  } catch {
    // it was never mounted
  }
  rmSync(disk, { recursive: true, force: true })
})

const filler = join(disk, 'filler')
/** Leaves so many bytes free. */
function fill(leave: number): void {
  rmSync(filler, { force: true })
  const { bavail, bsize } = statfsSync(disk)
  writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - leave)))
}
const pay = (paid: string[]): Tool => ({
  name: 'pay',
  description: 'pays',
  label: 'readonly',
  replay: 'never',
  parameters: z.object({}),
  execute: () => {
    paid.push('paid')
    return Promise.resolve({ code: 'ok', text: 'paid '.repeat(400) })
  }
})

describe.skipIf(!mountable())('a disk that is full', () => {
  it.each([0, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192])(
    'after %i more kilobytes loses nothing and hurts nothing',
    { timeout: 30_000 },
    async (kilobytes) => {
      rmSync(filler, { force: true })
      const home = join(disk, `home-${String(kilobytes)}`)
      const paid: string[] = []
      const said: string[] = []
      const script = `say: fine\n---\nspeed: 2000\nsay: ${'words '.repeat(300)}\ncall: pay {}\n---\nsay: ${'more '.repeat(300)}end\n---\nrepeat\nsay: later`
      const storage = { trouble: () => said.push('trouble'), well: () => said.push('well') }
      const h = openHarness(scripted(script), { home, tools: [pay(paid)], storage, failed: (what) => said.push(what) })
      const session = h.session()
      await say(session, 'first')
      fill(kilobytes * 1024)
      const sent = await session.prompt({ text: 'second', itemId: 's' }).then(
        (outcome) => outcome.ok,
        (error: unknown) => {
          expect(error).toMatchObject({ code: expect.stringMatching(/^SQLITE_(FULL|IOERR)/) as string })
          return false
        }
      )
      await sleep(400)
      rmSync(filler, { force: true })
      await session.waitForIdle()
      if (!sent) await say(session, 'second')
      expect(session.info.state).toBe('completed')
      expect(paid).toEqual(['paid'])
      await say(session, 'third')
      const texts = session.snapshot().entries.map((e) => (e.type === 'message' ? textOf(e.message).trim().split(' ').at(-1) : ''))
      expect(texts).toEqual(['first', 'fine', 'second', 'words', 'paid', 'end', 'third', 'later'])
      const log = eventsOf(h.store, session)
      expect(log.map((e) => e.seq)).toEqual(log.map((_, i) => i + 1))
      const [folded, stored] = [log.reduce(fold, emptyView(session.info)), viewOf(session.snapshot())]
      expect(plainView(folded)).toEqual(plainView(stored))
      await h.close()
      const db = new Database(join(home, 'tau.db'), { readonly: true })
      expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
      db.close()
      rmSync(home, { recursive: true })
    }
  )
})
