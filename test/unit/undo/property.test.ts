// Whatever calls did and in whatever order they are undone: each undo gives back exactly what was there, and undoing it returns.
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openBench, picture } from './support'

const NAMES = ['a', 'b', 'd/a', 'd/b', 'd/e/f', 'd/e']
const name = fc.constantFrom(...NAMES)
const step = fc.oneof(
  fc.record({ do: fc.constant('write' as const), name, text: fc.string({ maxLength: 40 }) }),
  fc.record({ do: fc.constant('remove' as const), name }),
  fc.record({ do: fc.constant('folder' as const), name }),
  fc.record({ do: fc.constant('link' as const), name, to: name }),
  fc.record({ do: fc.constant('mode' as const), name, bits: fc.constantFrom(0o600, 0o644, 0o755, 0o700) }),
  fc.record({ do: fc.constant('move' as const), name, to: name })
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** What cannot be done is left: a command fails too. */
function play(folder: string, s: Step): void {
  const at = join(folder, s.name)
  try {
    switch (s.do) {
      case 'write':
        mkdirSync(dirname(at), { recursive: true })
        rmSync(at, { recursive: true, force: true })
        writeFileSync(at, s.text)
        break
      case 'remove':
        rmSync(at, { recursive: true })
        break
      case 'folder':
        mkdirSync(at, { recursive: true })
        break
      case 'link':
        symlinkSync(s.to, at)
        break
      case 'mode':
        chmodSync(at, s.bits)
        break
      case 'move':
        renameSync(at, join(folder, s.to))
    }
  } catch {
    return
  }
}

describe('undo', () => {
  it('gives back the tree before any call, and undoing that returns', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 8 }),
        fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 5 }),
        fc.nat(),
        async (start, calls, at) => {
          const b = openBench()
          try {
            for (const s of start) play(b.workspace, s)
            const pictures = [picture(b.workspace)]
            const ids: (string | undefined)[] = []
            for (const steps of calls) {
              ids.push(
                await b.call(() => {
                  for (const s of steps) play(b.workspace, s)
                })
              )
              pictures.push(picture(b.workspace))
            }
            const from = at % calls.length
            const undone = await b.back(...ids.slice(from))
            expect(picture(b.workspace)).toEqual(pictures[from])
            if (undone.ok && undone.kept) await b.back(undone.kept.id)
            expect(picture(b.workspace)).toEqual(pictures.at(-1))
          } finally {
            b.close()
          }
        }
      ),
      { numRuns: 150 }
    )
  })
})
