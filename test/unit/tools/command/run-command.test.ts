// Commands as real processes: what they print, how they end, what they leave behind, and what the sandbox keeps from them.
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sandbox } from '../../../support/built-in'
import { freshFolder } from '../../../support/folders'
import { toolBox } from '../../../support/tools'

const inSandbox = sandbox.kind === 'none' ? it.skip : it
/** Processes whose command line is a `sleep` of that length. */
const running = (command: string): string =>
  readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && commandOf(pid) === command)
    .join()
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  } catch {
    return ''
  }
}
const mark = (): string => `6${String(Math.floor(Math.random() * 1e7)).padStart(7, '0')}`
const UNSANDBOXED = { network: false, reads: [], writes: [], unsandboxed: true }

describe('run_command', () => {
  it('gives both streams in order, and the exit code', async () => {
    const ws = freshFolder('cmd')
    const out = await toolBox().use('run_command', { command: 'echo one; echo two >&2; echo three; exit 3' }, ws)
    expect(out.code).toBe('exit')
    expect(out.text).toMatch(/^one\ntwo\nthree\n\[exit code 3, [\d.]+ s\]$/)
  })

  it('keeps the end of a long output, and the whole of it by reference', async () => {
    const box = toolBox()
    const out = await box.use('run_command', { command: 'seq 1 20000' }, freshFolder('cmd'))
    expect(out.text).toMatch(/^\[cut: \d+ lines before this; lookup_reference out_\w+ reads them\]\n/)
    expect(out.text).toContain('\n20000\n[exit code 0')
    expect(Buffer.byteLength(out.text)).toBeLessThan(32_000)
    const first = await box.use('lookup_reference', { ref: out.ref, limit: 2 }, freshFolder('cmd'))
    expect(first.text).toMatch(/^1\n2\n/)
  })

  it('takes a gigabyte without growing', { timeout: 120_000 }, async () => {
    const before = process.memoryUsage().rss
    let peak = 0
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20)
    const out = await toolBox().use('run_command', { command: 'yes | head -c 1000000000' }, freshFolder('cmd'))
    clearInterval(watch)
    expect(out.text).toMatch(/\[cut: 499\d+ lines before this, of which the first 64000000 bytes are kept/)
    expect(peak - before).toBeLessThan(300_000_000)
  })

  it('says of bytes that they are no text', async () => {
    const out = await toolBox().use('run_command', { command: 'head -c 5000 /dev/urandom' }, freshFolder('cmd'))
    expect(out.text).toMatch(/^\[binary output: 5000 bytes\]/)
  })

  it('ends at its time limit with all that it started', async () => {
    const m = mark()
    const out = await toolBox().use(
      'run_command',
      { command: `trap '' TERM; (setsid nohup sleep ${m} &) ; sleep ${m}`, timeout_s: 1 },
      freshFolder('cmd'),
      undefined,
      { access: UNSANDBOXED }
    )
    expect(out.code).toBe('timeout')
    expect(out.text).toContain('limit of 1 s')
    await expect.poll(() => running(`sleep ${m}`)).toBe('')
  })

  it.each([true, false])('when it is stopped leaves nothing running (sandbox: %s)', async (boxed) => {
    const m = mark()
    const stop = new AbortController()
    const going = toolBox().use(
      'run_command',
      { command: `trap '' TERM; setsid sleep ${m} & sleep ${m} & wait` },
      freshFolder('cmd'),
      undefined,
      {
        signal: stop.signal,
        ...(!boxed && { access: UNSANDBOXED })
      }
    )
    await sleep(400)
    expect(running(`sleep ${m}`)).not.toBe('')
    stop.abort()
    await expect(going).rejects.toThrow()
    await expect.poll(() => running(`sleep ${m}`)).toBe('')
  })

  it('does not wait for what its command left running, and ends that', async () => {
    const m = mark()
    const out = await toolBox().use('run_command', { command: `sleep ${m} & echo done` }, freshFolder('cmd'), undefined, {
      access: UNSANDBOXED
    })
    expect(out.text).toContain('done')
    expect(out.text).toContain('use background')
    await expect.poll(() => running(`sleep ${m}`)).toBe('')
  })

  it('has a terminal where one is asked for', async () => {
    const ask = { command: 'test -t 1 && echo terminal || echo pipe' }
    expect((await toolBox().use('run_command', ask, freshFolder('cmd'))).text).toContain('pipe')
    expect((await toolBox().use('run_command', { ...ask, pty: true }, freshFolder('cmd'))).text).toContain('terminal')
  })

  it('works in a folder of the workspace, and in no other', async () => {
    const ws = freshFolder('cmd')
    mkdirSync(join(ws, 'sub'))
    symlinkSync('/etc', join(ws, 'out'))
    expect((await toolBox().use('run_command', { command: 'pwd', cwd: 'sub' }, ws)).text).toContain(join(ws, 'sub'))
    for (const cwd of ['..', '/etc', 'out']) {
      expect((await toolBox().use('run_command', { command: 'touch /tmp/never', cwd }, ws)).code).toBe('outside_workspace')
    }
    expect((await toolBox().use('run_command', { command: 'pwd', cwd: 'gone' }, ws)).code).toBe('not_found')
  })

  it('gets no keys of ours', async () => {
    process.env['MY_API_TOKEN'] = 'seeded-secret'
    process.env['TAU_X'] = 'seeded-secret'
    const out = await toolBox().use('run_command', { command: 'env' }, freshFolder('cmd'), undefined, { access: UNSANDBOXED })
    delete process.env['MY_API_TOKEN']
    delete process.env['TAU_X']
    expect(out.text).not.toContain('seeded-secret')
    expect(out.text).toContain('PATH=')
  })
})

describe('the sandbox', () => {
  inSandbox('lets the workspace be written and nothing else', async () => {
    const ws = freshFolder('cmd')
    const other = freshFolder('other')
    mkdirSync(join(ws, '.git/hooks'), { recursive: true })
    writeFileSync(join(ws, '.git/config'), '[core]\n')
    const out = await toolBox().use(
      'run_command',
      {
        command: `echo x > in; echo x > ${other}/out; echo x > /etc/tau-test; echo x > .git/hooks/pre-commit; echo x >> .git/config; ls /run | wc -l`
      },
      ws
    )
    expect(readFileSync(join(ws, 'in'), 'utf8')).toBe('x\n')
    expect(existsSync(join(other, 'out'))).toBe(false)
    expect(existsSync('/etc/tau-test')).toBe(false)
    expect(existsSync(join(ws, '.git/hooks/pre-commit'))).toBe(false)
    expect(readFileSync(join(ws, '.git/config'), 'utf8')).toBe('[core]\n')
    expect(out.text).toMatch(/\n0\n\[exit code 0/)
  })

  inSandbox('opens what the decision gives', async () => {
    const other = freshFolder('other')
    await toolBox().use('run_command', { command: `echo x > ${other}/out` }, freshFolder('cmd'), undefined, {
      access: { network: false, reads: [], writes: [other], unsandboxed: false }
    })
    expect(existsSync(join(other, 'out'))).toBe(true)
  })

  inSandbox('has no network, unless it is given', async () => {
    let met = 0
    const server = createServer((socket) => {
      met++
      socket.end('hello\n')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const ask = { command: `timeout 2 cat < /dev/tcp/127.0.0.1/${String(port)}` }
    const shut = await toolBox().use('run_command', ask, freshFolder('cmd'))
    expect([shut.code, met]).toEqual(['exit', 0])
    const open = await toolBox().use('run_command', ask, freshFolder('cmd'), undefined, {
      access: { network: true, reads: [], writes: [], unsandboxed: false }
    })
    expect(open.text).toContain('hello')
    expect(open.foreign).toBe(true)
    server.close()
  })

  inSandbox('cannot see or end processes outside of it', async () => {
    const out = await toolBox().use(
      'run_command',
      { command: `kill -0 ${String(process.pid)}; ls /proc | grep -c '^[0-9]'` },
      freshFolder('cmd')
    )
    expect(out.text).toMatch(/No such process/)
  })
})

describe('a background job', () => {
  it('goes on after its call, can be read and stopped, and is listed for its session only', async () => {
    const m = mark()
    const box = toolBox()
    const ws = freshFolder('cmd')
    const begun = await box.use('run_command', { command: `echo started; sleep ${m}`, background: true }, ws)
    const id = /job_\w+/.exec(begun.text)?.[0] ?? ''
    await expect.poll(async () => (await box.use('jobs', { id }, ws)).text).toBe('[running]\nstarted')
    expect((await box.use('jobs', { id }, ws, undefined, { sessionId: 'another' })).code).toBe('not_found')
    expect((await box.use('jobs', {}, ws)).text).toContain(`${id} running: echo started`)
    expect((await box.use('jobs', { id, stop: true }, ws)).text).toBe('[stopped]\nstarted')
    await expect.poll(() => running(`sleep ${m}`)).toBe('')
  })

  it('that ends by itself says so', async () => {
    const box = toolBox()
    await box.use('run_command', { command: 'exit 4', background: true }, freshFolder('cmd'))
    await expect.poll(() => box.jobs.list()[0]).toMatchObject({ state: 'exited', exitCode: 4 })
  })

  it('ends with Tau', async () => {
    const m = mark()
    const box = toolBox()
    await box.use('run_command', { command: `sleep ${m}`, background: true }, freshFolder('cmd'))
    await box.jobs.close()
    await expect.poll(() => running(`sleep ${m}`)).toBe('')
  })
})
