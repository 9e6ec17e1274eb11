// The commands that work on sessions: on a folder of their own, beside a running window, and on what a killed Tau left.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { SessionEvent } from '../../src/shared/event'
import type { Session } from '../../src/shared/session'
import { emptyView, fold, plainView } from '../../src/shared/view'
import { freshFolder } from '../support/harness'
import { type CliResult, runCli, startWeb, until } from '../support/host'

interface Place {
  readonly home: string
  readonly cwd: string
  readonly model: string
}
function place(script: string): Place {
  const cwd = freshFolder('work')
  const file = join(cwd, 'talk.script')
  writeFileSync(file, script)
  return { home: freshFolder('home'), cwd, model: `scripted:${file}` }
}
const tau = (p: Place, ...args: string[]): Promise<CliResult> => runCli(args, p)
const rows = <T>(out: string): T[] =>
  out
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((l) => JSON.parse(l) as T)
async function asked(p: Place, words = 'hello'): Promise<string> {
  const { code, err } = await tau(p, 'ask', words, '--model', p.model)
  if (code !== 0) throw new Error(err)
  return rows<{ id: string }>((await tau(p, 'sessions', '--json')).out)[0]?.id ?? ''
}

describe('a session on the command line', () => {
  it('has a tree that one can see, name, go about in, fork, search, bin and delete', async () => {
    const p = place('repeat\nsay: To {{user}}.\n=== when sum it up\nrepeat\nsay: ## Goal\n  Talk.')
    const id = await asked(p, 'first words')
    await tau(p, 'ask', 'second words', '--session', id)
    const nodes = rows<{ id: string; text: string }>((await tau(p, 'tree', id, '--json')).out)
    expect(nodes.map((n) => n.text)).toEqual(['first words', 'To first words.', 'second words', 'To second words.'])
    const [, answer] = nodes
    expect((await tau(p, 'label', id, answer?.id ?? '', 'good')).code).toBe(0)
    const drawn = (await tau(p, 'tree', id)).out
    expect(drawn).toContain('[good] To first words.')
    expect(drawn).toMatch(/^\* .*To second words\./m)
    expect((await tau(p, 'goto', id, answer?.id ?? '', '--summary')).code).toBe(0)
    expect((await tau(p, 'show', id)).out).toContain('## Goal')
    const fork = (await tau(p, 'fork', id, answer?.id ?? '')).out.trim()
    expect(rows((await tau(p, 'tree', fork, '--json')).out)).toHaveLength(2)
    expect((await tau(p, 'search', 'SECOND words')).out).toContain('second words')
    const begun = await tau(p, 'side', id, 'begin', nodes[1]?.id ?? '')
    expect(begun.code).toBe(0)
    await tau(p, 'ask', 'aside', '--session', id)
    expect((await tau(p, 'side', id)).out).toContain(begun.out.trim())
    expect((await tau(p, 'side', id, 'dance')).code).toBe(2)
    expect((await tau(p, 'side', id, 'discard')).code).toBe(0)
    expect((await tau(p, 'show', id)).out).not.toContain('aside')
    await tau(p, 'delete', fork)
    expect((await tau(p, 'sessions', '--binned')).out).toContain(fork)
    await tau(p, 'delete', fork, '--purge')
    expect((await tau(p, 'show', fork)).code).toBe(4)
  })

  it('goes out to a file and comes in again', async () => {
    const p = place('say: Fine.')
    const id = await asked(p)
    for (const format of ['pi', 'json']) {
      const file = join(p.cwd, `out.${format}`)
      expect((await tau(p, 'export', id, '--format', format, '--out', file)).code).toBe(0)
      expect((await tau(p, 'export', id, '--format', format, '--out', file)).code).toBe(2) // never over a file that is there
      const { out } = await tau(p, 'import', file, '--json')
      const made = JSON.parse(out) as { session: { id: string }; entries: number; bad: unknown[] }
      expect(made.bad).toEqual([])
      const again = await tau(p, 'export', made.session.id, '--format', format, '--out', '-')
      if (format === 'pi') expect(again.out).toBe(readFileSync(file, 'utf8'))
    }
    expect((await tau(p, 'export', id, '--format', 'markdown', '--out', '-')).out).toContain('### 1. Person')
    const broken = join(p.cwd, 'broken.jsonl')
    writeFileSync(broken, 'no session at all')
    expect(await tau(p, 'import', broken)).toMatchObject({ code: 4, err: expect.stringContaining('no session file') as string })
  })

  it('has runs that can be listed, replayed to the same view, and let go on', async () => {
    const p = place('repeat\ncall: list_dir {"path": "nowhere"}')
    const { code } = await tau(p, 'ask', 'go', '--model', p.model)
    expect(code).toBe(5)
    const [session] = rows<{ id: string }>((await tau(p, 'sessions', '--json')).out)
    const id = session?.id ?? ''
    const [report] = rows<{ run: { id: string; cause: { kind: string } } }>((await tau(p, 'runs', id, '--json')).out)
    expect(report?.run.cause.kind).toBe('repetition')
    const run = report?.run.id ?? ''
    const events = rows<SessionEvent>((await tau(p, 'replay', run, '--json')).out)
    const view = JSON.parse((await tau(p, 'replay', run, '--view')).out) as { run: unknown }
    const first = events[0]
    if (!first) throw new Error('nothing was replayed')
    const again = plainView(events.reduce(fold, emptyView(session as unknown as Session))) as { run: unknown }
    expect(JSON.stringify(view.run)).toBe(JSON.stringify(again.run))
    expect((await tau(p, 'replay', run)).err).toContain('list_dir')
    expect((await tau(p, 'replay', run, '--speed', '0')).code).toBe(2)
    const more = await tau(p, 'continue', id, '--turns', '2')
    expect(more.code).toBe(5)
    expect(more.err).toContain('budget of 2')
  })
})

describe('beside a running window', () => {
  it('tau steers it and changes its queue; a second start shows it', { timeout: 40_000 }, async () => {
    const p = place(`speed: 5\nsay: ${'counting '.repeat(45)}\n---\nrepeat\nsay: Heard {{user}}.`)
    const web = await startWeb({ home: p.home, workspace: p.cwd })
    const { api } = await web.connect()
    const { id } = await api.sessions.create({ model: p.model, title: 'Counting' })
    await api.run.prompt({ sessionId: id, text: 'count', itemId: 'c' })
    expect(await tau(p, 'steer', id, 'left, please')).toMatchObject({
      code: 0,
      err: expect.stringContaining('running on this data folder') as string
    })
    await tau(p, 'steer', id, 'later this', '--later')
    const items = rows<{ id: string; kind: string; text: string }>((await tau(p, 'queue', id, '--json')).out)
    expect(items.map((i) => [i.kind, i.text])).toEqual([
      ['steer', 'left, please'],
      ['follow-up', 'later this']
    ])
    await tau(p, 'queue', id, 'edit', items[0]?.id ?? '', 'right, please')
    await tau(p, 'queue', id, 'kind', items[1]?.id ?? '', 'steer')
    await tau(p, 'queue', id, 'move', items[1]?.id ?? '', items[0]?.id ?? '')
    expect((await tau(p, 'queue', id)).out).toMatch(/steer.*later this\n.*steer.*right, please/)
    expect((await tau(p, 'queue', id, 'dance')).code).toBe(2)
    const second = await startWeb({ home: p.home, mayHandOver: true })
    expect(second.handedOver).toContain('running already: http://127.0.0.1:')
    await until('the end', async () => (await api.sessions.open({ sessionId: id })).session.state === 'completed', 20_000)
    const { entries } = await api.sessions.open({ sessionId: id })
    expect(entries.flatMap((e) => (e.type === 'message' && e.message.role === 'user' ? [e.message.said?.kind] : []))).toEqual([
      undefined,
      'steer',
      'steer'
    ])
    await web.end()
  })
})

describe('after a kill', () => {
  it('tau runs says where the stopped process was, and changes nothing; the question is answered then', async () => {
    const p = place('call: write_file {"path": "a.txt", "content": "x"}\n---\nsay: {{result}}')
    const web = await startWeb({ home: p.home, workspace: p.cwd })
    const { api } = await web.connect()
    const { id } = await api.sessions.create({ model: p.model, title: 'Writing' })
    await api.run.prompt({ sessionId: id, text: 'write', itemId: 'w' })
    await until('the question', async () => (await api.sessions.open({ sessionId: id })).approvals.length === 1)
    await web.end('SIGKILL')
    for (let i = 0; i < 2; i++) {
      const [report] = rows<{ run: { state: string }; calls: { name: string; state: string }[] }>((await tau(p, 'runs', id, '--json')).out)
      expect(report).toMatchObject({ run: { state: 'waiting' }, calls: [{ name: 'write_file', state: 'not_started' }] })
    }
    expect((await tau(p, 'answer', id)).out).toContain(join(p.cwd, 'a.txt'))
    const { code, out } = await tau(p, 'answer', id, 'allow')
    expect([code, out.trim()]).toEqual([0, 'Created a.txt (1 bytes).'])
    expect(existsSync(join(p.cwd, 'a.txt'))).toBe(true)
    expect((await tau(p, 'answer', id)).code).toBe(4)
  })
})
