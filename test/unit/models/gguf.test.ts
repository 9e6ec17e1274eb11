import { copyFile, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createGgufLister, parseGgufHeader } from '../../../src/main/models/gguf'

const tiny = (name: string): string => join(import.meta.dirname, '../../fixtures/tiny', `${name}.gguf`)
const parse = (bytes: Uint8Array): ReturnType<typeof parseGgufHeader> =>
  parseGgufHeader((at, length) => {
    // a length in the file must not become memory
    if (length > 1 << 20 && at + length > bytes.length) throw new RangeError(`asked for ${String(length)} bytes`)
    return Promise.resolve(bytes.subarray(at, at + length))
  }, bytes.length)

describe('GGUF headers', () => {
  it('tell name, window and template', async () => {
    const header = await parse(await readFile(tiny('tiny-tau')))
    expect(header).toMatchObject({ architecture: 'llama', type: 'model', name: 'tiny-tau', contextLength: 32_768 })
    expect(header.template).toContain('add_generation_prompt')
  })

  it('are refused, never misread or hung on, when cut or changed', async () => {
    const whole = await readFile(tiny('tiny-random-512'))
    const head = whole.subarray(0, 24_000)
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: head.length }), fc.nat({ max: 12_000 }), fc.nat({ max: 255 }), async (length, at, byte) => {
        await expect(parse(whole.subarray(0, Math.min(length, 4_000)))).rejects.toThrow()
        const changed = Uint8Array.from(head)
        changed[at] = byte
        await parse(changed).catch((cause: unknown) => {
          expect(cause).not.toBeInstanceOf(RangeError)
        })
      }),
      { numRuns: 150 }
    )
  })
})

describe('a models folder', () => {
  it('lists what can chat, marks what is broken, leaves out the rest', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tau-gguf-'))
    await copyFile(tiny('tiny-tau'), join(folder, 'tiny-tau.gguf'))
    await copyFile(tiny('tiny-tau'), join(folder, 'split-00002-of-00003.gguf'))
    await writeFile(join(folder, 'broken.gguf'), 'GGUF but not really')
    await writeFile(join(folder, 'half.gguf.part'), 'x')
    const list = createGgufLister(folder)
    expect((await list()).map((f) => [f.name, f.header?.contextLength, f.tools])).toEqual([
      ['broken', undefined, false],
      ['tiny-tau', 32_768, true]
    ])
    await copyFile(tiny('tiny-random-512'), join(folder, 'broken.gguf'))
    expect((await list())[0]?.header?.contextLength).toBe(512)
  })

  it('is empty when it does not exist', async () => {
    expect(await createGgufLister('/nowhere/at/all')()).toEqual([])
  })
})
