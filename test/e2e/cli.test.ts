import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SessionEvent } from '../../src/shared/event'
import { lockFolder } from '../../src/main/store/open/lock'
import { freshFolder } from '../support/harness'
import { homeWithTinyModels, runCli } from '../support/host'

const WRITE =
  'say: I write.\ncall: write_file {"path": "a.txt", "content": "new\\n"}\n---\nsay: {{result}}\n--- after denied\nsay: No: {{result}}'
function scriptFile(text: string): { home: string; cwd: string; model: string } {
  const cwd = freshFolder('work')
  writeFileSync(join(cwd, 'talk.script'), text)
  return { home: freshFolder('home'), cwd, model: 'scripted:talk.script' }
}
const ask = (s: { home: string; cwd: string; model: string }, ...more: string[]): ReturnType<typeof runCli> =>
  runCli(['ask', 'hello', '--model', s.model, ...more], s)
const linesOf = (out: string): Record<string, unknown>[] =>
  out
    .trim()
    .split('\n')
    .map((l) => JSON.parse(l) as Record<string, unknown>)

describe('tau ask', () => {
  it('puts the answer on standard output and everything else on standard error', async () => {
    const s = scriptFile('think: Hm.\nsay: Hello\n  world.\ncall: list_dir {}\n---\nsay: Bye.')
    const { code, out, err } = await ask(s)
    expect(out).toBe('Hello\nworld.\nBye.\n')
    expect(err).toContain('→ list_dir {}')
    expect(err).toContain('✓ list_dir')
    expect(code).toBe(0)
  })

  it('prints the event protocol as JSON lines, numbered without gaps', async () => {
    const { code, out } = await ask(scriptFile('say: Hello.'), '--json')
    const events = linesOf(out).map((line) => SessionEvent.parse(line))
    expect(events.map((e) => e.seq)).toEqual(events.map((_, i) => (events[0]?.seq ?? 0) + i))
    expect(events.at(-1)).toMatchObject({ type: 'agent_end', state: 'completed', cause: { kind: 'natural' } })
    expect(code).toBe(0)
  })

  it('refuses what would ask, unless a flag allows that label', async () => {
    const s = scriptFile(WRITE)
    const refused = await ask(s)
    expect(refused.out).toContain('No: The person did not allow this: Nobody at a terminal could be asked')
    expect(existsSync(join(s.cwd, 'a.txt'))).toBe(false)
    expect((await ask(s, '--allow', 'exec', 'network')).out).toContain('No:')
    expect((await ask(s, '--allow', 'write')).out).toContain('Created a.txt')
    expect(readFileSync(join(s.cwd, 'a.txt'), 'utf8')).toBe('new\n')
  })

  it('goes on with a session, which remembers', async () => {
    const s = scriptFile('say: One.\n---\nsay: Two, after {{user}}.')
    await ask(s)
    const [session] = linesOf((await runCli(['sessions', '--json'], s)).out)
    const id = String(session?.['id'])
    expect((await runCli(['ask', 'again', '--session', id.slice(-8)], s)).out).toBe('Two, after again.\n')
    expect((await runCli(['show', id], s)).out).toMatch(/You\nhello\n[^]*One\.\n[^]*You\nagain\n[^]*Two, after again\.\n/)
    expect(linesOf((await runCli(['show', id, '--json'], s)).out)).toHaveLength(4)
  })

  it('reads a question from standard input, and works in the folder that it is given', async () => {
    const s = scriptFile('call: read_file {"path": "x.txt"}\n---\nsay: {{user}}: {{result}}')
    const folder = freshFolder('other')
    writeFileSync(join(folder, 'x.txt'), 'from the other folder')
    const { out } = await runCli(['ask', '-', '--model', s.model, '--cwd', folder], { ...s, input: 'from a pipe\n' })
    expect(out).toBe('from a pipe: from the other folder\n')
  })

  it('logs what happened as JSON lines, and nothing of what was said', async () => {
    const s = scriptFile('say: An answer about bees.\ncall: list_dir {}\n---\nsay: More bees.')
    await ask(s)
    const lines = readFileSync(join(s.home, 'logs/tau.log'), 'utf8')
    expect(linesOf(lines).map((l) => l['event'])).toEqual(expect.arrayContaining(['app_start', 'run_end', 'app_end']))
    expect(lines).not.toMatch(/bees|hello/)
  })

  it('never passes control characters of a model on to the terminal', async () => {
    const { out } = await ask(scriptFile('say: a\u001b[2Jb\u202ec\u0007'))
    expect(out).toBe('a\ufffd[2Jb\ufffdc\ufffd\n')
  })

  it('answers by real inference, with a tool', async () => {
    const home = homeWithTinyModels()
    const cwd = freshFolder('work')
    writeFileSync(join(cwd, 'notes.txt'), 'x')
    const { code, err } = await runCli(['ask', 'list', '--model', 'engine:tiny-tau'], { home, cwd })
    expect(err).toContain('✓ list_dir')
    expect(code).toBe(0)
  })
})

describe('exit codes', () => {
  it('0 for help, of each command', async () => {
    const home = freshFolder('home')
    for (const command of [[], ['ask'], ['sessions'], ['show'], ['serve'], ['models']]) {
      const { code, out } = await runCli([...command, '--help'], { home })
      expect(code).toBe(0)
      expect(out).toContain('Usage: tau')
    }
  })

  it('1 when the run fails', async () => {
    const { code, err } = await ask(scriptFile('say: Half\nfault: busy The server is busy.'))
    expect(code).toBe(1)
    expect(err).toContain('The server is busy.')
  })

  it('2 for a command that is not understood', async () => {
    const s = scriptFile('say: x')
    for (const args of [['dance'], ['ask'], ['ask', '   ', '--model', s.model], ['ask', 'x', '--model', s.model, '--allow', 'everything']])
      expect((await runCli(args, s)).code, args.join(' ')).toBe(2)
  })

  it('3 for a data folder that is in use or is none', async () => {
    const home = freshFolder('home')
    const lock = lockFolder(home, 'other') // an owner that cannot be spoken to
    const { code, err } = await runCli(['sessions'], { home })
    lock.release()
    expect(code).toBe(3)
    expect(err).toMatch(/already running on .* \(other, process \d+/)
    writeFileSync(join(freshFolder(), 'file'), '')
    expect((await runCli(['sessions', '--home', '/dev/null/x'], { home })).code).toBe(3)
  })

  it('4 for a session, model or script that does not exist', async () => {
    const home = freshFolder('home')
    for (const args of [
      ['show', 'nobody'],
      ['ask', 'x', '--session', 'nobody'],
      ['ask', 'x', '--model', 'engine:nobody'],
      ['ask', 'x', '--model', 'scripted:nowhere'],
      ['ask', 'x']
    ]) {
      const { code, err } = await runCli(args, { home })
      expect(code, args.join(' ')).toBe(4)
      expect(err.trim()).not.toBe('')
    }
    const badFolder = await runCli(['ask', 'x', '--model', 'scripted:tour-en', '--cwd', join(home, 'nope')], { home })
    expect(badFolder.code).toBe(4)
    expect(badFolder.err).toContain('is not a folder')
  })

  it('5 when a budget or a repetition ends the run', async () => {
    const { code, err } = await ask(scriptFile('repeat\ncall: list_dir {}'))
    expect(code).toBe(5)
    expect(err).toContain('list_dir was called')
  })

  it('130 for Ctrl-C, with what was said kept', async () => {
    const s = scriptFile('say: Begun\nhang')
    const { code, out } = await runCli(['ask', 'x', '--model', s.model], {
      ...s,
      onOut: (so, child) => so.includes('Begun') && child.kill('SIGINT')
    })
    expect(out).toContain('Begun')
    expect(code).toBe(130)
    expect((await runCli(['sessions', '--json'], s)).out).toContain('"state":"cancelled"')
  })
})

describe('tau models', () => {
  it('lists what is there, ready or not', async () => {
    const home = homeWithTinyModels()
    mkdirSync(join(home, 'models'), { recursive: true })
    writeFileSync(join(home, 'models', 'broken.gguf'), 'not weights')
    const models = linesOf((await runCli(['models', '--json'], { home })).out)
    expect(models.map((m) => [m['id'], m['ready']])).toEqual([
      ['engine:broken', false],
      ['engine:tiny-agent-think', true],
      ['engine:tiny-tau', true]
    ])
    expect((await runCli(['models'], { home: freshFolder('home') })).out).toContain('--get-starter')
  })
})
