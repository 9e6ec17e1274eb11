import { createHash } from 'node:crypto'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { extractZipMember, findZipMember } from '../../../src/main/models/starter/zip'
import { makeZip } from './zip-kit'

const never = new AbortController().signal
const find = (bytes: Uint8Array, name: string): ReturnType<typeof findZipMember> =>
  findZipMember((at, length) => Promise.resolve(bytes.subarray(at, at + length)), bytes.length, name)
const members = fc.uniqueArray(
  fc.record({
    name: fc.string({ minLength: 1, maxLength: 12 }),
    data: fc.uint8Array({ minLength: 1, maxLength: 300 }),
    stored: fc.boolean()
  }),
  { minLength: 1, maxLength: 5, selector: (m) => m.name }
)

describe('zip archives', () => {
  it('give back what was put in', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tau-zip-'))
    await fc.assert(
      fc.asyncProperty(members, fc.string({ maxLength: 30 }), async (all, comment) => {
        await writeFile(join(folder, 'a.zip'), makeZip(all, comment))
        for (const { name, data } of all) {
          const hash = await extractZipMember(join(folder, 'a.zip'), name, join(folder, 'out'), never, () => undefined)
          expect(new Uint8Array(await readFile(join(folder, 'out')))).toEqual(data)
          expect(hash).toBe(createHash('sha256').update(data).digest('hex'))
        }
      }),
      { numRuns: 50 }
    )
  })

  it('are refused when cut, and never hang when changed', async () => {
    await fc.assert(
      fc.asyncProperty(members, fc.nat({ max: 100 }), fc.nat(), fc.nat({ max: 255 }), async (all, percent, at, byte) => {
        const whole = makeZip(all)
        const name = all[0]?.name ?? ''
        await expect(find(whole.subarray(0, Math.floor((whole.length * percent) / 101)), name)).rejects.toThrow()
        const changed = Buffer.from(whole)
        changed[at % whole.length] = byte
        await find(changed, name).catch(() => undefined)
      })
    )
  })

  it('do not unpack to more than they say', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tau-zip-'))
    const zip = makeZip([{ name: 'a', data: Buffer.alloc(10_000) }])
    // the size in the central directory, which is what counts
    zip.writeUInt32LE(10, zip.indexOf('PK\x01\x02') + 24)
    await writeFile(join(folder, 'a.zip'), zip)
    await expect(extractZipMember(join(folder, 'a.zip'), 'a', join(folder, 'out'), never, () => undefined)).rejects.toThrow('damaged')
  })
})
