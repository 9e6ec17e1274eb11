import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { compileParameters, readArguments, splitArguments, type Taker } from '../../../src/main/loop/arguments'

const own = (parameters: z.ZodType, label: Taker['label'] = 'write'): Taker => ({ name: 'save', label, parameters })
function foreign(schema: Record<string, unknown>): Taker {
  const compiled = compileParameters(schema)
  if (!compiled.ok) throw new Error(compiled.message)
  return { name: 'save', label: 'write', parameters: compiled.parameters }
}
const value = (taker: Taker, raw: string): unknown => {
  const read = readArguments(taker, raw)
  return read.ok ? read.value : read.code
}
const reason = (taker: Taker, raw: string): string => {
  const read = readArguments(taker, raw)
  return read.ok ? 'fits' : read.reason
}
const anything = own(z.looseObject({}))
const text = own(z.object({ a: z.string(), b: z.number().optional() }))

describe('repair', () => {
  it.each([
    ['{a: "x", b: 2}', { a: 'x', b: 2 }],
    [`{'a': 'x'}`, { a: 'x' }],
    ['{"a":"x",}', { a: 'x' }],
    ['{"a":"x" "b":2}', { a: 'x', b: 2 }],
    ['{"a":"x"}}', { a: 'x' }],
    ['{"a":"x"}</tool_call>', { a: 'x' }],
    ['<tool_call>\n{"a":"x"}\n</tool_call>', { a: 'x' }],
    ['{\\"a\\": \\"x\\"}', { a: 'x' }],
    ['{"a":"it\\\'s"}', { a: "it's" }],
    ['{"a": x}', { a: 'x' }],
    ['\uFEFF{"a":"x"}', { a: 'x' }],
    ['```json\n{"a":"x"}', { a: 'x' }],
    ['// first\n{"a":"x"}', { a: 'x' }]
  ])('reads %s', (raw, expected) => {
    expect(value(text, raw)).toEqual(expected)
  })
  it('keeps the backslash of a pattern that forgot to double it', () => {
    expect(value(text, '{"a":"\\d+\\s"}')).toEqual({ a: '\\d+\\s' })
  })
  it.each([
    ['a backslash that is half of something else', '{"a":"C:\\Users\\new"}'],
    ['a quote inside a text', '{"a":"say "hi" now"}'],
    ['a quote, comma and all', '{"a":"say "", "b": 1}'],
    ['a missing value', '{"a":"x","b": }'],
    ['something left out', '{"a":"x", ...}'],
    ['code', '{"a": read("x")}'],
    ['half a number', '{"a":"x","b":1e}'],
    ['more text behind it', '{"a":"x"} and then'],
    ['one field with two values', '{"a":"x","a":"y"}']
  ])('does not guess at %s', (_what, raw) => {
    expect(value(text, raw)).toBe('bad_json')
  })
  it('takes a field that is given twice alike', () => {
    expect(value(text, '{"a":"x","a":"x"}')).toEqual({ a: 'x' })
  })
  it('closes the last brace of a call without effect only', () => {
    const shape = z.object({ a: z.string(), b: z.number().optional() })
    expect(value(own(shape, 'readonly'), '{"a":"x"')).toEqual({ a: 'x' })
    expect(value(own(shape, 'write'), '{"a":"x"')).toBe('cut_off')
    expect(value(own(shape, 'readonly'), '{"a":"x","b":2')).toBe('cut_off') // could be 20
  })
  it('never runs a call with an effect that was cut anywhere', () => {
    const call = fc.record({ a: fc.string(), b: fc.integer(), c: fc.array(fc.string(), { maxLength: 3 }) })
    fc.assert(
      fc.property(call, fc.nat(), (args, where) => {
        const whole = JSON.stringify(args)
        const cut = whole.slice(0, 1 + (where % (whole.length - 1)))
        expect(readArguments(anything, cut).ok).toBe(false)
      })
    )
  })
  it('leaves every valid object as it is', () => {
    const plain = fc.dictionary(
      fc.string().filter((k) => !['__proto__', 'constructor'].includes(k)),
      fc.jsonValue({ maxDepth: 4 })
    )
    fc.assert(
      fc.property(plain, (args) => {
        const raw = JSON.stringify(args)
        fc.pre(!raw.includes('__proto__'))
        expect(value(foreign({}), raw)).toEqual(JSON.parse(raw))
      })
    )
  })
  it('never throws', () => {
    const bits = fc.array(
      fc.constantFrom('{', '}', '[', ']', '"', "'", '\\', ',', ':', 'a', '1', ' ', 'null', '/*', '//', '\n', '`', '\\u12'),
      { maxLength: 40 }
    )
    fc.assert(
      fc.property(bits, (parts) => {
        const raw = parts.join('')
        expect(typeof readArguments(text, raw).ok).toBe('boolean')
        expect(splitArguments(raw).length).toBeGreaterThan(0)
      }),
      { numRuns: 2_000 }
    )
  })
  it('refuses nesting that would break a validator, and says so', () => {
    const deep = `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
    expect(reason(anything, deep)).toMatch(/nested deeper than 100/)
    expect(value(anything, `{a:${'['.repeat(50_000)}`)).toBe('bad_json')
    expect(splitArguments(`${deep}${deep}`)).toHaveLength(1)
  })
  it('takes a text of millions of lines', () => {
    const args = { a: 'x\n'.repeat(4_000_000) }
    expect(value(text, JSON.stringify(args))).toEqual(args)
  })
  it('finds a field that is given twice wherever it stands', () => {
    for (const raw of ['{"a":"x","c":[{"d":{"e":1,"e":2}}]}', '{"a":"x","\\u0061":"y"}', '{"a":"\\\\","a":"\\""}']) {
      expect(value(anything, raw)).toBe('bad_json')
    }
    expect(value(anything, '{"a":"\\\\","c":["a","a"],"d":{"a":"\\""}}')).toEqual({ a: '\\', c: ['a', 'a'], d: { a: '"' } })
  })
  it('lets no key reach a prototype', () => {
    const read = value(anything, '{"a":1,"\\u005f_proto__":{"x":1},"b":{"constructor":{"prototype":{"x":1}}}}')
    expect(Object.keys(read as object)).toEqual(['a', 'b'])
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype)
    expect(Object.hasOwn((read as { b: object }).b, 'constructor')).toBe(false)
  })
})

describe('reading by the schema', () => {
  const schema = {
    properties: {
      text: { type: 'string' },
      count: { type: 'integer' },
      on: { type: 'boolean' },
      list: { type: 'array', items: { $ref: '#/$defs/part' } },
      either: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] }
    },
    required: ['text'],
    $defs: { part: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } }
  }
  it.each([
    ['{"text":"t","count":"7","on":"True","list":"[{\\"n\\":\\"1.5\\"}]"}', { text: 't', count: 7, on: true, list: [{ n: 1.5 }] }],
    ['{"text":"t","list":"[{n: 1},]"}', { text: 't', list: [{ n: 1 }] }],
    ['{"text":"[1,2]","count":"7"}', { text: '[1,2]', count: 7 }],
    ['{"text":"7","count":"7"}', { text: '7', count: 7 }],
    ['{"text":"t","either":"[\\"a\\"]","count":"1"}', { text: 't', either: '["a"]', count: 1 }],
    ['{"text":"t","count":null,"list":null}', { text: 't' }],
    ['{"text":"t","count":"null"}', { text: 't' }],
    ['{"input":{"text":"t"}}', { text: 't' }],
    ['{"arguments":"{\\"text\\":\\"t\\"}"}', { text: 't' }],
    ['{"name":"save","arguments":{"text":"t"}}', { text: 't' }],
    ['[{"text":"t"}]', { text: 't' }],
    ['{"text":"t","more":{"text":"u"}}', { text: 't', more: { text: 'u' } }]
  ])('reads %s', (raw, expected) => {
    expect(value(foreign(schema), raw)).toEqual(expected)
  })
  it.each([
    '{"text":null}',
    '{"text":5}',
    '{"text":"t","count":"7 apples"}',
    '{"text":"t","count":"1.5"}',
    '{"text":"t","count":"9007199254740993"}',
    '{"text":"t","on":"yes"}',
    '{"text":"t","list":"[{\\"n\\":1}"}',
    '[{"text":"t"},{"text":"u"}]'
  ])('does not guess at %s', (raw) => {
    expect(value(foreign(schema), raw)).toBe('invalid_arguments')
  })
  it.each(['null', '""', '"{}"', '[]', '  '])('takes %s for nothing where nothing is needed', (raw) => {
    expect(value(foreign({ additionalProperties: false }), raw)).toEqual({})
  })
  it('reads a text in a text in a text', () => {
    expect(value(foreign(schema), JSON.stringify(JSON.stringify('{"text":"t"}')))).toEqual({ text: 't' })
  })
  it('takes a field of a free form for what it is', () => {
    expect(value(foreign({}), '{"filter":{}}')).toEqual({ filter: {} })
    expect(value(foreign({ additionalProperties: false }), '{"input":{}}')).toEqual({})
  })
  it('reads the same of a zod type', () => {
    const shape = own(z.strictObject({ paths: z.array(z.string()).optional(), max: z.int().optional() }))
    expect(value(shape, '{"paths":"[\\"a\\"]","max":"3"}')).toEqual({ paths: ['a'], max: 3 })
  })
})

describe('a refusal', () => {
  const zod = own(z.strictObject({ path: z.string().min(1), mode: z.enum(['fast', 'slow']).optional(), max: z.int().max(7).optional() }))
  const json = foreign({
    properties: { path: { type: 'string', minLength: 1 }, mode: { enum: ['fast', 'slow'] }, max: { type: 'integer', maximum: 7 } },
    required: ['path'],
    additionalProperties: false
  })
  it.each([
    ['{}', 'path: expected string (required), got nothing.'],
    ['{"path":5}', 'path: expected string, got number 5.'],
    ['{"path":"a","mode":"quick"}', 'mode: expected one of "fast", "slow", got string "quick".'],
    ['{"path":"a","planet":"Mars"}', 'planet: expected no field of that name (the fields are path, mode, max), got string "Mars".'],
    ['"a.txt"', 'The arguments must be one JSON object, not string "a.txt".'],
    ['null', 'must be one JSON object, not null. path: expected string (required), got nothing.']
  ])('of %s has the same words whoever made the tool', (raw, words) => {
    expect(reason(zod, raw)).toContain(words)
    expect(reason(json, raw)).toContain(words)
  })
  it('names the bound', () => {
    expect(reason(zod, '{"path":"a","max":9}')).toMatch(/max: expected .*7, got number 9/)
    expect(reason(json, '{"path":"a","max":9}')).toMatch(/max: expected .*7, got number 9/)
  })
  it('shows a call that fits, with what fitted already', () => {
    for (const taker of [zod, json]) {
      const example = /for example (\{.*\})\.$/.exec(reason(taker, '{"path":"a.txt","mode":"quick"}'))?.[1] ?? ''
      expect(JSON.parse(example)).toEqual({ path: 'a.txt', mode: 'fast' })
    }
    const list = foreign({ properties: { path: { type: 'string' }, in: { type: 'array', items: { type: 'string' } } }, required: ['path'] })
    expect(reason(list, '{"path":"a","in":"src"}')).toContain('for example {"path":"a","in":["src"]}')
  })
  it('shows nothing where no example can be made that fits', () => {
    const odd = own(z.object({ to: z.email() }))
    expect(reason(odd, '{}')).not.toContain('for example')
  })
  it('says of a choice what it is between, not what each branch lacks', () => {
    const choice = foreign({ properties: { id: { anyOf: [{ type: 'string' }, { type: 'integer' }] } } })
    expect(reason(choice, '{"id":true}')).toContain('id: expected string or integer, got boolean true.')
  })
})

describe('the schema of a stranger', () => {
  it('is refused when it cannot be used', () => {
    for (const schema of [{ $ref: 'https://example.org/other.json' }, { properties: { a: { type: 'nonsense' } } }, { $async: true }]) {
      expect(compileParameters(schema)).toMatchObject({ ok: false, code: 'bad_schema' })
    }
    expect(compileParameters({ description: 'x'.repeat(300_000) }).ok).toBe(false)
  })
  it('may be of draft 7, or of one that nobody knows', () => {
    const draft7 = foreign({ $schema: 'http://json-schema.org/draft-07/schema#', properties: { p: { items: [{ type: 'string' }] } } })
    expect(value(draft7, '{"p":[1]}')).toBe('invalid_arguments')
    expect(compileParameters({ $schema: 'https://json-schema.org/draft/2019-09/schema', properties: {} }).ok).toBe(true)
  })
  it('cannot hang the program with a pattern', () => {
    const slow = foreign({ properties: { a: { type: 'string', pattern: '^(a+)+$' } } })
    expect(value(slow, `{"a":"${'a'.repeat(40)}!"}`)).toEqual({ a: `${'a'.repeat(40)}!` })
    expect(value(foreign({ properties: { a: { type: 'string', pattern: '^x' } } }), '{"a":"y"}')).toBe('invalid_arguments')
  })
})

describe('several calls in one', () => {
  it.each([
    ['{"a":1}{"a":2}', ['{"a":1}', '{"a":2}']],
    ['{"a":1}\n{"a":"}{"}', ['{"a":1}', '{"a":"}{"}']],
    ['{"a":1}{ "a": 1 }', ['{"a":1}']],
    ['{"a":[{"b":1},{"b":2}]}', ['{"a":[{"b":1},{"b":2}]}']],
    ['{"a":1}{"a":', ['{"a":1}{"a":']],
    ['{}{"a":1}', ['{"a":1}']],
    ['{}{}', ['{}']],
    ['{"a":"}{"}', ['{"a":"}{"}']]
  ])('%s', (raw, pieces) => {
    expect(splitArguments(raw)).toEqual(pieces)
  })
})
