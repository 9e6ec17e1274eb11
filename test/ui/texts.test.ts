import { afterEach, describe, expect, it } from 'vitest'
import { en } from '../../src/renderer/src/text/en'
import { texts } from '../../src/renderer/src/text/index.svelte'
import { zh } from '../../src/renderer/src/text/zh'

/** `path → kind` of every text: strings, lists with their length, functions with how many values they take. */
function shapeOf(value: unknown, path = ''): string[] {
  if (typeof value === 'function') return [`${path}(${String(value.length)})`]
  if (Array.isArray(value)) return [`${path}[${String(value.length)}]`]
  if (typeof value === 'object' && value !== null) return Object.entries(value).flatMap(([key, v]) => shapeOf(v, `${path}.${key}`))
  return [path]
}
function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsOf) : []
}

afterEach(() => {
  texts.choose('en')
  localStorage.clear()
})

describe('the catalogs', () => {
  it('hold the same texts, those by code included', () => {
    expect(shapeOf(zh).sort()).toEqual(shapeOf(en).sort())
  })

  it('leave none empty', () => {
    for (const text of [...stringsOf(en), ...stringsOf(zh)]) expect(text.trim()).not.toBe('')
  })

  it('are written in their own language', () => {
    const same = ['Tau', 'Ollama', '简体中文', 'English']
    const missed = stringsOf(zh).filter((t) => !/\p{Script=Han}/u.test(t) && !same.includes(t) && t !== 'zh-CN')
    expect(missed).toEqual([])
    expect(stringsOf(en).filter((t) => /\p{Script=Han}/u.test(t))).toEqual([])
  })

  it('know every fault that a session can show', () => {
    const codes =
      'unreachable model_missing context_overflow out_of_memory crashed engine_crashed busy capability_missing incomplete_stream aborted interrupted no_model starter_failed bad_weights idle_timeout script_error denied outside_workspace not_found invalid_arguments unknown_tool bad_json too_large changed_since_shown timeout threw budget'
    for (const code of codes.split(' ')) expect(texts.fault(code), code).toBeTypeOf('string')
    expect(texts.fault('toString')).toBeUndefined()
  })
})

describe('numbers and times', () => {
  it('follow the language', () => {
    expect([texts.bytes(93e6), texts.duration(400), texts.duration(12_400), texts.duration(200_000), texts.duration(3_900_000)]).toEqual([
      '93 MB',
      '0.4s',
      '12s',
      '3m 20s',
      '1h 5m'
    ])
    texts.choose('zh')
    expect(document.documentElement.lang).toBe('zh-CN')
    expect(texts.duration(12_400)).toBe('12秒')
  })

  it('count in the plural of the language', () => {
    expect([en.message.tokens(1), en.message.tokens(2_500)]).toEqual(['1 token', '2,500 tokens'])
    expect(zh.message.tokens(2_500)).toBe('2,500 词元')
  })

  it('never say more than is done', () => {
    expect(texts.percent(0.999)).toBe('99%')
  })
})

it('remembers the language that was chosen', () => {
  texts.choose('zh')
  expect(localStorage.getItem('tau.language')).toBe('zh')
})
