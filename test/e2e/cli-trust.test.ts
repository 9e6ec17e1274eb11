// Rules, grants, modes, undo, jobs and work on the command line, as the built program.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { freshFolder } from '../support/harness'
import { runCli, startWeb } from '../support/host'

const jsonOf = (out: string): Record<string, unknown>[] =>
  out
    .trim()
    .split('\n')
    .filter((l) => l !== '')
    .map((l) => JSON.parse(l) as Record<string, unknown>)

const LONG = { timeout: 20_000, interval: 200 }

describe('tau policy', () => {
  it('says which rule decides of a command, and why', async () => {
    const home = freshFolder('home')
    const test = (...args: string[]): ReturnType<typeof runCli> => runCli(['policy', 'test', ...args], { home })
    const push = await test('git push --force')
    expect(push.code).toBe(6)
    expect(push.out).toMatch(/^would ask: .*\nrule: mode ask \(mode\)\n$/)
    expect((await test('ls && cat .env')).code).toBe(7)
    expect((await test('ls -la')).code).toBe(0)
    expect((await test('rm -rf build', '--mode', 'read-only')).code).toBe(7)
    expect((await test('ls', '--mode', 'free')).code).toBe(2)
    writeFileSync(join(home, 'policy.json'), JSON.stringify({ rules: [{ verdict: 'deny', command: 'git push **', note: 'never' }] }))
    const denied = await test('git -C . push', '--json')
    expect(denied.code).toBe(7)
    expect(jsonOf(denied.out)[0]).toMatchObject({
      decision: { verdict: 'deny', rule: { source: 'file', text: 'deny anything: git push **' } }
    })
    expect((await runCli(['policy'], { home })).out).toContain('"git push **"')
    writeFileSync(join(home, 'policy.json'), '{')
    const faulty = await runCli(['policy'], { home })
    expect([faulty.code, faulty.out]).toEqual([1, expect.stringContaining('cannot be used')])
  })
})

describe('a session', () => {
  it('is given a mode, grants, and taken back', async () => {
    const home = freshFolder('home')
    const cwd = freshFolder('work')
    writeFileSync(
      join(cwd, 'talk.script'),
      'call: run_command {"command": "touch made"}\n---\nsay: Done.\n---\ncall: write_file {"path": "a.txt", "content": "new\\n"}\n---\nsay: Done.'
    )
    const s = { home, cwd, model: 'scripted:talk.script' }
    const asked = await runCli(['ask', 'go', '--model', s.model, '--allow', 'exec'], s)
    expect(asked.err).toMatch(/changed 1 path, \+0 −0 \(tau undo SESSION --call kept_/)
    const id = String(jsonOf((await runCli(['sessions', '--json'], s)).out)[0]?.['id'])
    expect((await runCli(['mode', id], s)).out).toMatch(/^ask: /)
    expect((await runCli(['mode', id, 'workspace'], s)).out).toMatch(/^workspace: /)
    expect((await runCli(['mode', id, 'wild'], s)).code).toBe(2)
    await runCli(['ask', 'more', '--session', id], s) // an edit is free now
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('new\n')

    expect(jsonOf((await runCli(['undo', id, '--list', '--json'], s)).out).map((k) => k['tool'])).toEqual(['write_file', 'run_command'])
    expect((await runCli(['undo', id], s)).code).toBe(2) // nobody could be asked
    const undone = await runCli(['undo', id, '--yes'], s)
    expect(undone.out).toMatch(/a\.txt: comes back[^]*-new[^]*1 of 1 came back/)
    expect([existsSync(join(cwd, 'a.txt')), existsSync(join(cwd, 'made'))]).toEqual([false, true])
    writeFileSync(join(cwd, 'made'), 'mine now')
    const changed = await runCli(['undo', id, '--yes'], s)
    expect(changed.out).toContain('changed since')
    expect(readFileSync(join(cwd, 'made'), 'utf8')).toBe('mine now')
    expect((await runCli(['undo', '--usage'], s)).out).toMatch(/MB for \d+ calls; at most 1000\.0 MB and 30 days/)
    expect((await runCli(['undo', '--clear'], s)).out).toContain('for 0 calls')
    expect((await runCli(['undo', id, '--yes'], s)).code).toBe(4)
  })

  it(
    'beside a running window: a question answered with another rule, work, jobs, one call stopped, grants',
    { timeout: 60_000 },
    async () => {
      const home = freshFolder('home')
      const workspace = freshFolder('work')
      writeFileSync(
        join(workspace, 'talk.script'),
        'call: run_command {"command": "make all"}\n---\ncall: run_command {"command": "sleep 30"}\n---\ncall: run_command {"command": "echo up; sleep 30", "background": true}\n---\nsay: Done.'
      )
      const web = await startWeb({ home, workspace })
      const { api, close } = await web.connect()
      const { id } = await api.sessions.create({ model: `scripted:${join(workspace, 'talk.script')}`, workspace })
      await api.run.prompt({ sessionId: id, text: 'go', itemId: 'a' })
      const tau = (...args: string[]): ReturnType<typeof runCli> => runCli(args, { home })
      const question = async (): Promise<string> => (await tau('answer', id)).out
      await expect.poll(question, LONG).toContain('make all')
      expect(await question()).toMatch(
        /in .*\n[^]*asked because: [^]*would store: \{"verdict":"allow","tool":"run_command","command":"make all \*\*"\}/
      )
      expect((await tau('answer', id, 'perhaps')).code).toBe(2)
      expect((await tau('answer', id, 'always', '--rule', '{"verdict":"allow","command":"bash **"}')).err).toContain(
        'starts other programs'
      )
      const going = tau('answer', id, 'always', '--rule', '{"verdict":"allow","tool":"run_command","command":"make *"}')
      await expect.poll(question, LONG).toContain('sleep 30')
      const [grant] = jsonOf((await tau('grants', '--json')).out)
      expect(grant).toMatchObject({ rule: { command: 'make *' } })
      expect((await tau('grants', 'revoke', String(grant?.['id']))).code).toBe(0)
      expect((await tau('grants')).out).toBe('Nothing is granted.\n')

      const second = tau('answer', id, 'once')
      await expect.poll(async () => (await tau('work')).out, LONG).toMatch(/run_command .*running/)
      const [call] = jsonOf((await tau('work', '--json')).out)
      expect((await tau('cancel', id, String(call?.['callId']))).code).toBe(0)
      await expect.poll(question, LONG).toContain('echo up')
      await Promise.all([tau('answer', id, 'once'), second, going])
      const [job] = jsonOf((await tau('jobs', '--json')).out)
      expect(job).toMatchObject({ state: 'running' })
      expect((await tau('jobs', 'read', String(job?.['id']))).out).toBe('up\n')
      expect((await tau('jobs', 'stop', String(job?.['id']))).out).toContain('stopped')
      expect((await tau('runs', 'nothing')).code).toBe(4) // and does not hang
      close()
      expect(await web.end()).toBe(0)
    }
  )
})
