// A folder that is swapped for a link out of the workspace, again and again, between the check and the use: nothing outside is ever touched or read.
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { freshFolder } from '../../support/folders'
import { toolBox } from '../../support/tools'

const ROUNDS = 400

it('a link that is swapped in leads nobody out', { timeout: 60_000 }, async () => {
  const ws = freshFolder('race')
  const outside = freshFolder('outside')
  mkdirSync(join(ws, 'd'))
  writeFileSync(join(outside, 'f'), 'not yours')
  writeFileSync(join(ws, 'd/f'), 'inside')
  const swapper = spawn(
    process.execPath,
    [
      '-e',
      `const fs = require('fs'), d = ${JSON.stringify(join(ws, 'd'))}, link = d + '.link', real = d + '.real'
       const attempt = (work) => { try { work() } catch {} }
       for (;;) {
         attempt(() => fs.symlinkSync(${JSON.stringify(outside)}, link))
         attempt(() => fs.renameSync(d, real))
         attempt(() => fs.renameSync(link, d))
         attempt(() => fs.renameSync(d, link))
         // a write may have made the folder anew meanwhile
         attempt(() => { if (fs.existsSync(real)) { fs.rmSync(d, { recursive: true, force: true }); fs.renameSync(real, d) } })
       }`
    ],
    { stdio: 'ignore' }
  )
  const box = toolBox()
  const codes = new Map<string, number>()
  try {
    for (let n = 0; n < ROUNDS; n++) {
      const read = await box.use('read_file', { path: 'd/f' }, ws)
      expect(read.text).not.toContain('not yours')
      const written = await box.use('write_file', { path: `d/n${String(n % 7)}`, content: 'x' }, ws)
      const edited = await box.use('edit_file', { path: 'd/f', edits: [{ old: 'inside', new: 'inside' + String(n % 2) }] }, ws)
      for (const { code } of [read, written, edited]) codes.set(code, (codes.get(code) ?? 0) + 1)
    }
  } finally {
    swapper.kill('SIGKILL')
  }
  expect(readdirSync(outside)).toEqual(['f'])
  expect(readFileSync(join(outside, 'f'), 'utf8')).toBe('not yours')
  expect(codes.get('ok') ?? 0, JSON.stringify([...codes])).toBeGreaterThan(0)
})
