// Twenty-five kills of a real process at random moments; a thousand and more: npm run torture -- --kills 1000
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('loses nothing that was promised when its process is killed, again and again', { timeout: 180_000 }, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/torture.mjs', '--kills', '25', '--quiet'], {
    maxBuffer: 2 ** 24
  })
  const { kills, shown, accepted } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as Record<string, number>
  expect(kills).toBe(25)
  expect(shown).toBeGreaterThan(200) // it was at work when it was killed
  expect(accepted).toBeGreaterThan(20)
})
