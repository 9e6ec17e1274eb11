// What would ship: packed as for Linux, looked through, and run. The packed app is taken out of its archive, since plain Node cannot look into one.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { extractArchive } from '../../scripts/asar.mjs'
import { openDesktop, root } from '../support/desktop'
import { freshFolder } from '../support/harness'

describe.runIf(process.platform === 'linux' && process.arch === 'x64')('the packed app', () => {
  it.skipIf(process.env['TAU_CHROMIUM'] === undefined)('holds what it needs and nothing else, and opens its window', async () => {
    const packed = freshFolder('packed')
    const check = spawnSync(process.execPath, [join(root, 'scripts/pack-check.mjs'), `--out=${packed}`], { cwd: root, encoding: 'utf8' })
    expect(check.status, check.stdout + check.stderr).toBe(0)

    const unpacked = freshFolder('app')
    extractArchive(join(packed, 'linux-unpacked/resources/app.asar'), unpacked)
    const app = await openDesktop({ home: freshFolder('home'), workspace: freshFolder('work'), entry: join(unpacked, 'out/main/index.js') })
    await app.page.getByTestId('start-view').waitFor()
    await app.page.getByTestId('start-tour').click()
    await app.page.getByTestId('send').click()
    await app.page.getByTestId('tool-card').first().waitFor()
    void app.command('close-window')
    expect(await app.ended).toBe(0)
    for (const folder of [packed, unpacked]) rmSync(folder, { recursive: true, force: true })
  })
})
