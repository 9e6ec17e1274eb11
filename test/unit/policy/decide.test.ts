import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CallFacts } from '../../../src/main/policy/policy'
import type { Decision, Grant, Mode, Rule, Verdict } from '../../../src/shared/policy'
import { freshFolder } from '../../support/folders'
import { policyOf } from '../../support/policy'

const home = freshFolder('home')
const workspace = realpathSync(freshFolder('ws'))
mkdirSync(join(workspace, '.git'))
const policy = policyOf(home)
const call = (more: Partial<CallFacts>): CallFacts => ({
  tool: 'run_command',
  label: 'exec',
  touches: {},
  workspace,
  foreign: false,
  ...more
})
const run = (command: string, more: Partial<CallFacts> = {}): CallFacts => call({ touches: { command }, ...more })
const write = (path: string, more: Partial<CallFacts> = {}): CallFacts =>
  call({ tool: 'write_file', label: 'write', touches: { writes: [path] }, ...more })
const read = (path: string): CallFacts => call({ tool: 'read_file', label: 'readonly', touches: { reads: [path] } })
const fetch = (url: string): CallFacts => call({ tool: 'fetch_url', label: 'network', touches: { urls: [url] } })
const grant = (rule: Rule, sessionId?: string): Grant => ({
  id: 'g',
  workspace,
  rule,
  grantedAt: 0,
  ...(sessionId !== undefined && { sessionId })
})
const decide = (facts: CallFacts, mode: Mode = 'ask', ...rules: Rule[]): Decision =>
  policy.decide(
    facts,
    mode,
    rules.map((r) => grant(r))
  )

describe('the modes', () => {
  const table: [string, CallFacts, Record<Mode, Verdict>][] = [
    ['reading', read('a'), { 'read-only': 'allow', ask: 'allow', workspace: 'allow', trusted: 'allow' }],
    ['a reading command', run('ls'), { 'read-only': 'allow', ask: 'allow', workspace: 'allow', trusted: 'allow' }],
    ['an edit inside', write('a'), { 'read-only': 'deny', ask: 'ask', workspace: 'allow', trusted: 'allow' }],
    ['an edit outside', write('../a'), { 'read-only': 'deny', ask: 'deny', workspace: 'deny', trusted: 'deny' }],
    ['an edit of git’s own', write('.git/hooks/x'), { 'read-only': 'deny', ask: 'ask', workspace: 'ask', trusted: 'ask' }],
    ['a command', run('npm test'), { 'read-only': 'deny', ask: 'ask', workspace: 'ask', trusted: 'allow' }],
    ['a command with the network', run('npm install'), { 'read-only': 'deny', ask: 'ask', workspace: 'ask', trusted: 'ask' }],
    ['sudo', run('sudo ls'), { 'read-only': 'deny', ask: 'ask', workspace: 'ask', trusted: 'ask' }],
    ['a page', fetch('https://example.org'), { 'read-only': 'deny', ask: 'ask', workspace: 'ask', trusted: 'ask' }],
    ['a secret', read('.env'), { 'read-only': 'deny', ask: 'ask', workspace: 'ask', trusted: 'ask' }],
    ['a secret by command', run('cat .env'), { 'read-only': 'deny', ask: 'deny', workspace: 'deny', trusted: 'deny' }],
    ['reading outside', read('/etc/hostname'), { 'read-only': 'ask', ask: 'ask', workspace: 'ask', trusted: 'ask' }],
    ['our own data', read(join(home, 'tau.db')), { 'read-only': 'deny', ask: 'ask', workspace: 'ask', trusted: 'ask' }]
  ]
  it.each(table)('%s', (_name, facts, wanted) => {
    for (const [mode, verdict] of Object.entries(wanted) as [Mode, Verdict][]) expect(decide(facts, mode).verdict, mode).toBe(verdict)
  })
  it('without a sandbox even trusted commands ask', () => {
    expect(policyOf(freshFolder('home'), false).decide(run('npm test'), 'trusted', []).verdict).toBe('ask')
  })
})

describe('rules', () => {
  const allow = (more: Partial<Rule>): Rule => ({ verdict: 'allow', ...more })
  const deny = (more: Partial<Rule>): Rule => ({ verdict: 'deny', ...more })
  it('allow what they name and nothing else', () => {
    const rule = allow({ command: 'npm test **' })
    expect(decide(run('npm test -- a'), 'ask', rule)).toMatchObject({ verdict: 'allow', rule: { source: 'grant' } })
    for (const line of [
      'npm testing',
      'npm run x',
      'npm test && npm run x',
      'npm test | tee x',
      'npm test > x',
      'timeout 1 npm test',
      './npm test',
      'sh -c "npm test"',
      'npm test $(touch x)'
    ])
      expect(decide(run(line), 'ask', rule).verdict, line).toBe('ask')
    expect(decide(run('cd src && npm test'), 'ask', rule).verdict).toBe('allow')
  })
  it('see git without its global options', () => {
    expect(decide(run(`git -C ${workspace} push origin`), 'trusted', deny({ command: 'git push **' })).verdict).toBe('deny')
    expect(decide(run('timeout 5 git push'), 'trusted', deny({ command: 'git push **' })).verdict).toBe('deny')
  })
  it('the last match wins, and a deny beats all', () => {
    const ask: Rule = { verdict: 'ask', command: 'npm test **' }
    expect(decide(run('npm test'), 'ask', ask, allow({ command: 'npm **' })).verdict).toBe('allow')
    expect(decide(run('npm test'), 'ask', allow({ command: 'npm **' }), ask).verdict).toBe('ask')
    fc.assert(
      fc.property(fc.array(fc.constantFrom<Verdict>('allow', 'ask', 'deny'), { minLength: 1, maxLength: 6 }), (verdicts) => {
        const rules = verdicts.map((verdict): Rule => ({ verdict, command: 'npm test' }))
        expect(decide(run('npm test'), 'ask', ...rules).verdict).toBe(verdicts.includes('deny') ? 'deny' : verdicts.at(-1))
      })
    )
  })
  it('of a path hold for what it really leads to', () => {
    expect(decide(write('src/a'), 'ask', allow({ path: 'src/**' })).verdict).toBe('allow')
    expect(decide(write('src/../b'), 'ask', allow({ path: 'src/**' })).verdict).toBe('ask')
    expect(decide(read('.env'), 'ask', allow({ tool: 'read_file' })).verdict).toBe('ask')
    expect(decide(read('.env'), 'ask', allow({ tool: 'read_file', path: '.env' })).verdict).toBe('allow')
    expect(decide(write('/tmp/x'), 'ask', allow({ tool: 'write_file' })).verdict).toBe('deny')
    expect(decide(write('/tmp/x'), 'ask', allow({ path: '/tmp/**' }))).toMatchObject({ verdict: 'allow', access: { writes: ['/tmp/x'] } })
  })
  it('of a host hold for it and, with *., for those below', () => {
    expect(decide(fetch('https://api.example.org/x'), 'ask', allow({ host: '*.example.org' })).verdict).toBe('allow')
    expect(decide(fetch('https://example.org.evil.net/'), 'ask', allow({ host: '*.example.org' })).verdict).toBe('ask')
    expect(decide(fetch('https://example.org@evil.net/'), 'ask', allow({ host: 'example.org' })).verdict).toBe('ask')
  })
  it('do not let foreign text out: it asks whatever they say', () => {
    const rule = allow({ command: 'git push **' })
    expect(decide(run('git push'), 'ask', rule).verdict).toBe('allow')
    expect(decide(run('git push', { foreign: true }), 'ask', rule)).toMatchObject({
      verdict: 'ask',
      code: 'foreign',
      rule: { source: 'safety' }
    })
    expect(decide(fetch('https://a.example'), 'ask', allow({ host: 'a.example' })).verdict).toBe('allow')
    expect(decide({ ...fetch('https://a.example'), foreign: true }, 'ask', allow({ host: 'a.example' })).verdict).toBe('ask')
    expect(decide(write('/tmp/x', { foreign: true }), 'ask', allow({ path: '/tmp/**' })).verdict).toBe('ask')
    expect(decide(run('npm test', { foreign: true }), 'ask', allow({ command: 'npm test' })).verdict).toBe('allow')
    expect(policy.proposeGrant(run('git push', { foreign: true }), decide(run('git push', { foreign: true }), 'ask', rule))).toBeUndefined()
  })
})

describe('the policy file', () => {
  const folder = freshFolder('home')
  const own = policyOf(folder)
  const say = (content: unknown): void => {
    writeFileSync(join(folder, 'policy.json'), typeof content === 'string' ? content : JSON.stringify(content))
  }
  const verdict = (facts: CallFacts, mode: Mode): string => own.decide(facts, mode, []).verdict
  it('is read again when it changes; what is there for a workspace comes last', () => {
    expect(own.show()).toMatchObject({ exists: false, mode: 'ask', rules: [] })
    say({
      mode: 'workspace',
      rules: [{ verdict: 'allow', command: 'make **' }],
      workspaces: { [workspace]: { mode: 'trusted', rules: [{ verdict: 'ask', command: 'make clean' }] } }
    })
    expect([own.modeFor('/elsewhere'), own.modeFor(workspace)]).toEqual(['workspace', 'trusted'])
    expect([verdict(run('make all'), 'ask'), verdict(run('make clean'), 'ask')]).toEqual(['allow', 'ask'])
    expect(own.decide(run('make clean'), 'ask', []).rule).toMatchObject({ source: 'workspace', text: 'ask anything: make clean' })
  })
  it.each(['{', '[]', '{"mode":"free"}', '{"rules":[{"verdict":"allow","tols":"x"}]}', 'x'.repeat(1_100_000)])(
    'with a fault makes nothing free, and keeps what was denied',
    (content) => {
      say({
        rules: [
          { verdict: 'allow', command: 'make **' },
          { verdict: 'deny', command: 'rm **' }
        ]
      })
      expect([verdict(run('make'), 'trusted'), verdict(run('rm x'), 'trusted')]).toEqual(['allow', 'deny'])
      say(content)
      expect(own.show().fault).toMatchObject({ code: 'bad_policy', message: expect.stringContaining('Until it is mended') as string })
      expect([verdict(run('make'), 'trusted'), verdict(run('rm x'), 'trusted'), verdict(write('a'), 'workspace')]).toEqual([
        'ask',
        'deny',
        'ask'
      ])
    }
  )
})

describe('a grant', () => {
  const proposed = (facts: CallFacts): Rule | undefined => policy.proposeGrant(facts, decide(facts))
  it.each([
    ['npm test -- x', 'npm test **'],
    ['npm run build --fast', 'npm run build **'],
    ['git commit -m "some words"', 'git commit **'],
    ['make', 'make'],
    ['./gen.sh a', './gen.sh a']
  ])('for %s would be %s', (line, command) => {
    expect(proposed(run(line))).toEqual({ verdict: 'allow', tool: 'run_command', command })
  })
  it.each(['rm -rf build', 'sudo ls', 'bash x.sh', 'timeout 5 make', 'make && ls > x', 'make $X', 'cat .env', 'find . -delete | xargs rm'])(
    'is not offered for %s',
    (line) => {
      expect(proposed(run(line))).toBeUndefined()
    }
  )
  it('for files is their folder, for pages their host', () => {
    expect(proposed(write('src/deep/a.ts'))).toEqual({ verdict: 'allow', tool: 'write_file', path: 'src/deep/**' })
    expect(proposed(write('a.ts'))).toEqual({ verdict: 'allow', tool: 'write_file', path: 'a.ts' })
    expect(proposed(fetch('https://example.org/x'))).toEqual({ verdict: 'allow', tool: 'fetch_url', host: 'example.org' })
  })
  it('that was offered covers its call', () => {
    for (const facts of [run('npm test -- x'), run('make'), write('src/a'), fetch('https://example.org')]) {
      const rule = proposed(facts)
      expect(rule && policy.checkGrant(rule, facts)).toBeUndefined()
      expect(rule && decide(facts, 'ask', rule).verdict).toBe('allow')
    }
  })
  it.each<[Rule, RegExp]>([
    [{ verdict: 'deny', command: 'x' }, /only allow/],
    [{ verdict: 'allow' }, /everything/],
    [{ verdict: 'allow', tool: '*' }, /every tool/],
    [{ verdict: 'allow', tool: 'run_command' }, /must name the command/],
    [{ verdict: 'allow', command: '* test' }, /name its program/],
    [{ verdict: 'allow', command: 'bash **' }, /starts other programs/],
    [{ verdict: 'allow', command: 'rm **' }, /whole lines/],
    [{ verdict: 'allow', command: 'npm **' }, /subcommand/],
    [{ verdict: 'allow', command: 'node -e **' }, /the script/],
    [{ verdict: 'allow', path: '/**' }, /every path/],
    [{ verdict: 'allow', host: '*' }, /name a host/],
    [{ verdict: 'allow', command: 'yarn test' }, /does not cover/]
  ])('%j is refused', (rule, why) => {
    expect(policy.checkGrant(rule, run('npm test'))).toMatch(why)
  })
})

it('explains part by part', () => {
  const { decision, parts } = policy.explain(run('ls && git push'), 'ask', [])
  expect(decision).toMatchObject({ verdict: 'ask', touched: { commands: ['ls', 'git push'], unsure: false }, access: { network: true } })
  expect(parts.map((p) => [p.what, p.verdict])).toEqual([
    ['ls', 'allow'],
    ['git push', 'ask']
  ])
  expect(homedir()).not.toBe('')
})
