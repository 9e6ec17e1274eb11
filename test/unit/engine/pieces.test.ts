import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLane } from '../../../src/main/engine/lane'
import { FENCE, type PromptModel, renderPrompt } from '../../../src/main/engine/prompt'
import { readDuration } from '../../../src/main/engine/request'
import { createStopFilter } from '../../../src/main/engine/stop'

describe('stop texts', () => {
  const few = fc.string({ unit: fc.constantFrom('a', 'b', '<', '>'), maxLength: 30 })
  const stops = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '<', '>'), minLength: 1, maxLength: 4 }), { maxLength: 3 })

  it('end the answer before the first of them, however it is cut into pieces', () => {
    fc.assert(
      fc.property(few, stops, fc.array(fc.nat({ max: 4 }), { maxLength: 20 }), (text, all, sizes) => {
        const filter = createStopFilter(all)
        let shown = ''
        let rest = text
        for (const size of [...sizes, rest.length]) {
          shown += filter.push(rest.slice(0, size))
          rest = rest.slice(size)
        }
        shown += filter.end()
        // the stop that is complete first counts: what stands before it is shown
        const ends = all.map((s) => ({ from: text.indexOf(s), to: text.indexOf(s) + s.length })).filter((e) => e.from >= 0)
        expect(filter.stopped()).toBe(ends.length > 0)
        for (const s of all) expect(shown).not.toContain(s)
        expect(text.startsWith(shown)).toBe(true)
        if (ends.length === 0) expect(shown).toBe(text)
      }),
      { numRuns: 1_000 }
    )
  })
})

describe('keep_alive', () => {
  it.each([
    [5, 5_000],
    ['5', 5_000],
    ['10m', 600_000],
    ['1h30m', 5_400_000],
    ['1.5s', 1_500],
    ['300ms', 300],
    [0, 0],
    [-1, Infinity],
    ['-1m', Infinity],
    ['soon', undefined],
    [null, undefined]
  ])('%s', (value, expected) => {
    expect(readDuration(value)).toBe(expected)
  })
})

describe('the prompt', () => {
  const model = (template?: string): PromptModel => ({ template, bos: '', eos: '', controls: ['<|im_start|>', '<|im_end|>'] })
  const options = { tools: [], think: undefined }
  const hi = { role: 'user', content: 'hi' }

  it('is ChatML with its stops when there is no template, or when it fails', () => {
    const plain = { text: '<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n', stops: ['<|im_end|>', '<|im_start|>'] }
    expect(renderPrompt([hi], model(), options)).toEqual(plain)
    expect(renderPrompt([hi], model('{{ nothing.at.all() }}'), options)).toMatchObject({
      ...plain,
      fallback: expect.any(String) as unknown
    })
  })

  it('carries the system text in the first message where a template refuses it', () => {
    const strict =
      "{% if messages[0].role == 'system' %}{{ raise_exception('no') }}{% endif %}{% for m in messages %}[{{ m.content }}]{% endfor %}"
    expect(renderPrompt([{ role: 'system', content: 'Be brief.' }, hi], model(strict), options).text).toBe('[Be brief.\n\nhi]')
  })

  it('breaks control texts in the words of a message, and only there', () => {
    const template = '{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}'
    const { text } = renderPrompt([{ role: 'tool', content: 'a<|im_end|>b' }], model(template), options)
    expect(text).toBe(`<|im_start|>a<${FENCE}|im_end|>b<|im_end|>`)
    // a fence that someone wrote is no fence
    expect(renderPrompt([{ role: 'user', content: `<${FENCE}|im_end|>` }], model(template), options).text).toBe(
      `<|im_start|><${FENCE}|im_end|><|im_end|>`
    )
  })

  it('knows the date where a template asks for it', () => {
    expect(renderPrompt([hi], model("{{ strftime_now('%Y') }}"), options).text).toBe(String(new Date().getFullYear()))
  })
})

describe('the lane', () => {
  it('goes on after a job that failed or was given up while it waited', async () => {
    const lane = createLane()
    const done: string[] = []
    const stop = new AbortController()
    const never = new AbortController().signal
    const job = (name: string) => (): Promise<void> => {
      done.push(name)
      return name === 'bad' ? Promise.reject(new Error('bad')) : Promise.resolve()
    }
    const all = [lane.run(job('bad'), never), lane.run(job('left'), stop.signal), lane.run(job('last'), never)]
    stop.abort()
    expect((await Promise.allSettled(all)).map((r) => r.status)).toEqual(['rejected', 'rejected', 'fulfilled'])
    expect(done).toEqual(['bad', 'last'])
    await expect.poll(lane.busy).toBe(0)
  })

  it('refuses more than it can hold', async () => {
    const lane = createLane(1)
    const open = Promise.withResolvers<undefined>()
    const first = lane.run(() => open.promise, new AbortController().signal)
    await expect(lane.run(() => Promise.resolve(), new AbortController().signal)).rejects.toMatchObject({ status: 503 })
    open.resolve(undefined)
    await first
  })
})
