import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maskSecrets } from '../../../src/main/policy/mask'

const x = (n: number): string => 'aB3'.repeat(n).slice(0, n)

describe('a secret in a text', () => {
  it.each([
    [`token ghp_${x(36)} end`, 'token [secret: GitHub token] end'],
    [`sk-ant-api03-${x(80)}`, '[secret: Anthropic key]'],
    [`sk-proj-${x(60)}`, '[secret: OpenAI key]'],
    ['AKIAIOSFODNN7EXAMPLE', '[secret: AWS key]'],
    [`AIza${x(35)}`, '[secret: Google key]'],
    [`xoxb-${x(30)}`, '[secret: Slack token]'],
    [`Authorization: Bearer ${x(40)}`, 'Authorization: Bearer [secret: token]'],
    [`eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${x(30)}`, '[secret: token]'],
    ['postgres://me:hunter22@db/x', 'postgres://me:[secret: password]@db/x'],
    ['DB_PASSWORD=hunter22\nNEXT=1', 'DB_PASSWORD=[secret: value]\nNEXT=1'],
    ['API_KEY="abcdef123"', 'API_KEY="[secret: value]"'],
    [`-----BEGIN RSA PRIVATE KEY-----\n${x(60)}\n-----END RSA PRIVATE KEY-----`, '[secret: private key]']
  ])('%j is masked', (given, wanted) => {
    expect(maskSecrets(given)).toBe(wanted)
  })
  it.each([
    'const tokenCount = 12',
    'd8fd1e3a1b2c3d4e5f60718293a4b5c6d7e8f901',
    'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
    'PASSWORD=$SECRET_FROM_ENV',
    'SECRET = process.env.SECRET',
    'the API_KEY must be set',
    'https://example.org/a:b@c',
    'bearer of news'
  ])('%j is none', (text) => {
    expect(maskSecrets(text)).toBe(text)
  })
  it('is masked once: twice changes nothing', () => {
    const bits = fc.constantFrom(
      'PASSWORD=',
      'secretvalue9',
      `ghp_${x(36)}`,
      'Bearer ',
      x(30),
      ' ',
      '\n',
      '"',
      '://a:',
      '@',
      '[secret: value]',
      'TOKEN = '
    )
    fc.assert(
      fc.property(fc.array(bits, { maxLength: 20 }), (all) => {
        const once = maskSecrets(all.join(''))
        expect(maskSecrets(once)).toBe(once)
      }),
      { numRuns: 1_000 }
    )
  })
})
