import { spawnSync } from 'node:child_process'
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { freshFolder } from '../../support/folders'
import { type Bench, mode, openBench, picture, SESSION } from './support'

const open: Bench[] = []
const bench = (...args: Parameters<typeof openBench>): Bench => {
  const made = openBench(...args)
  open.push(made)
  return made
}
afterEach(() => {
  for (const b of open.splice(0)) b.close()
})

/** A workspace with some of everything. */
function fill(folder: string): void {
  mkdirSync(join(folder, 'src/deep'), { recursive: true })
  mkdirSync(join(folder, 'empty'))
  writeFileSync(join(folder, 'a.txt'), 'one\ntwo\n')
  writeFileSync(join(folder, 'src/run.sh'), '#!/bin/sh\n')
  mode(join(folder, 'src/run.sh'), 0o755)
  writeFileSync(join(folder, 'src/deep/bytes'), Buffer.from([0, 255, 13, 10, 0]))
  symlinkSync('a.txt', join(folder, 'link'))
  symlinkSync('nowhere', join(folder, 'dangling'))
}

describe('an undo', () => {
  it('brings back all that a command changed: contents, permissions, links, folders', async () => {
    const b = bench()
    const { workspace: w } = b
    fill(w)
    const was = picture(w)
    const id = await b.call(() => {
      writeFileSync(join(w, 'a.txt'), 'other')
      mode(join(w, 'src/run.sh'), 0o600)
      rmSync(join(w, 'src/deep'), { recursive: true })
      writeFileSync(join(w, 'src/deep'), 'now a file')
      rmSync(join(w, 'link'))
      mkdirSync(join(w, 'link/inside'), { recursive: true })
      writeFileSync(join(w, 'link/inside/x'), 'x')
      rmSync(join(w, 'dangling'))
      rmSync(join(w, 'empty'), { recursive: true })
      mkdirSync(join(w, 'new/er'), { recursive: true })
      writeFileSync(join(w, 'new/er/file'), 'n')
    })
    const [kept] = b.undo.list(SESSION)
    expect(kept?.id).toBe(id)
    expect(kept?.changes.find((c) => c.path === 'a.txt')).toMatchObject({ before: 'file', after: 'file', added: 1, removed: 2 })
    const plan = await b.undo.plan([id ?? ''])
    expect(plan.steps.every((s) => s.state === 'restore')).toBe(true)
    expect(plan.steps.find((s) => s.path === 'a.txt')?.diff).toContain('-other\n')
    expect(picture(w)).not.toEqual(was)
    expect(await b.undo.apply(plan.token)).toMatchObject({ ok: true, undone: [id] })
    expect(picture(w)).toEqual(was)
  })

  it('can itself be undone, and what it undid can be undone again', async () => {
    const b = bench()
    fill(b.workspace)
    const was = picture(b.workspace)
    const id = await b.call(() => {
      writeFileSync(join(b.workspace, 'a.txt'), 'changed')
    })
    const changed = picture(b.workspace)
    for (let round = 0; round < 2; round++) {
      const undone = await b.back(id)
      expect(picture(b.workspace)).toEqual(was)
      expect(b.undo.list(SESSION).find((k) => k.id === id)?.undoneBy).toBe(undone.ok && undone.kept?.id)
      expect(await b.back(undone.ok ? undone.kept?.id : undefined)).toMatchObject({ ok: true })
      expect(picture(b.workspace)).toEqual(changed)
      expect(b.undo.list(SESSION).find((k) => k.id === id)?.undoneBy).toBeUndefined()
    }
  })

  it('leaves what somebody changed since, file by file', async () => {
    const b = bench()
    fill(b.workspace)
    const at = (name: string): string => join(b.workspace, name)
    const id = await b.call(() => {
      for (const name of ['a.txt', 'src/run.sh', 'made']) writeFileSync(at(name), 'by tau')
    })
    writeFileSync(at('a.txt'), 'by a person')
    writeFileSync(at('made'), 'a person again')
    const plan = await b.undo.plan([id ?? ''])
    expect(Object.fromEntries(plan.steps.map((s) => [s.path, s.state]))).toEqual({
      'a.txt': 'changed_since',
      made: 'changed_since',
      'src/run.sh': 'restore'
    })
    await b.undo.apply(plan.token)
    expect([readFileSync(at('a.txt'), 'utf8'), readFileSync(at('made'), 'utf8')]).toEqual(['by a person', 'a person again'])
    expect(readFileSync(at('src/run.sh'), 'utf8')).toBe('#!/bin/sh\n')
  })

  it('leaves what changed after the plan was shown', async () => {
    const b = bench()
    fill(b.workspace)
    const id = await b.call(() => {
      writeFileSync(join(b.workspace, 'a.txt'), 'by tau')
    })
    const plan = await b.undo.plan([id ?? ''])
    writeFileSync(join(b.workspace, 'a.txt'), 'in between')
    expect(await b.undo.apply(plan.token)).toMatchObject({ ok: true, steps: [{ path: 'a.txt', state: 'changed_since' }] })
    expect(readFileSync(join(b.workspace, 'a.txt'), 'utf8')).toBe('in between')
    expect(await b.undo.apply(plan.token)).toMatchObject({ ok: false, code: 'unknown_plan' })
  })

  it('of several calls goes back behind the first, unless somebody changed the file between them', async () => {
    const b = bench()
    fill(b.workspace)
    const was = picture(b.workspace)
    const write = (name: string, text: string) => (): void => {
      writeFileSync(join(b.workspace, name), text)
    }
    const ids = [await b.call(write('a.txt', '1')), await b.call(write('a.txt', '2')), await b.call(write('b.txt', '1'))]
    await b.back(...ids)
    expect(picture(b.workspace)).toEqual(was)
    const first = await b.call(write('a.txt', '3'))
    write('a.txt', 'a person')()
    const second = await b.call(write('a.txt', '4'))
    expect((await b.undo.plan([first ?? '', second ?? ''])).steps).toMatchObject([{ path: 'a.txt', state: 'changed_since' }])
    await b.back(second)
    expect(readFileSync(join(b.workspace, 'a.txt'), 'utf8')).toBe('a person')
  })

  it('of an older call alone does not take a newer one with it', async () => {
    const b = bench()
    fill(b.workspace)
    const first = await b.call(() => {
      writeFileSync(join(b.workspace, 'a.txt'), '1')
    })
    await b.call(() => {
      writeFileSync(join(b.workspace, 'a.txt'), '2')
    })
    expect((await b.undo.plan([first ?? ''])).steps).toMatchObject([{ state: 'changed_since' }])
  })

  it('does not remove a folder in which somebody put something', async () => {
    const b = bench()
    const id = await b.call(() => {
      mkdirSync(join(b.workspace, 'made'))
    })
    writeFileSync(join(b.workspace, 'made/mine'), 'm')
    expect(await b.back(id)).toMatchObject({ ok: true, steps: [{ path: 'made', state: 'changed_since' }] })
    expect(existsSync(join(b.workspace, 'made/mine'))).toBe(true)
  })

  it('touches nothing outside when a link is put in its way', async () => {
    const b = bench()
    fill(b.workspace)
    const outside = freshFolder('outside')
    writeFileSync(join(outside, 'bytes'), 'not yours')
    const id = await b.call(() => {
      writeFileSync(join(b.workspace, 'src/deep/bytes'), 'changed')
    })
    const plan = await b.undo.plan([id ?? ''])
    renameSync(join(b.workspace, 'src/deep'), join(b.workspace, 'src/moved'))
    symlinkSync(outside, join(b.workspace, 'src/deep'))
    expect(await b.undo.apply(plan.token)).toMatchObject({ steps: [{ state: 'changed_since' }] })
    expect(readFileSync(join(outside, 'bytes'), 'utf8')).toBe('not yours')
    // also when what lies there is just what the call left
    writeFileSync(join(outside, 'bytes'), 'changed')
    const again = await b.undo.plan([id ?? ''])
    await b.undo.apply(again.token)
    expect(readFileSync(join(outside, 'bytes'), 'utf8')).toBe('changed')
  })
})

describe('what is kept', () => {
  it('of a call that names its paths is those paths only', async () => {
    const b = bench()
    fill(b.workspace)
    const was = picture(b.workspace)
    const id = await b.call(() => {
      rmSync(join(b.workspace, 'src'), { recursive: true })
      writeFileSync(join(b.workspace, 'other'), 'by a person at the same time')
    }, [join(b.workspace, 'src')])
    expect(b.undo.list(SESSION)[0]?.changes.map((c) => c.path)).toEqual(['src', 'src/deep', 'src/deep/bytes', 'src/run.sh'])
    await b.back(id)
    expect(picture(b.workspace)).toEqual({ ...was, other: expect.any(String) as unknown })
  })

  it('is nothing when nothing changed, and no trace of it stays', async () => {
    const b = bench()
    fill(b.workspace)
    expect(await b.call(() => undefined)).toBeUndefined()
    expect(b.undo.list(SESSION)).toEqual([])
    expect(b.store.kept.opened()).toEqual([])
  })

  it('notices a file that was changed and given its old size and time', async () => {
    const b = bench()
    const file = join(b.workspace, 'f')
    writeFileSync(file, 'aaaa')
    await b.call(() => undefined)
    const { atime, mtime } = statSync(file)
    const id = await b.call(() => {
      writeFileSync(file, 'bbbb')
      utimesSync(file, atime, mtime)
    })
    await b.back(id)
    expect(readFileSync(file, 'utf8')).toBe('aaaa')
  })

  it('says what it left out: heavy folders, large files, git', async () => {
    const b = bench({ fileBytes: 1_000 })
    const { workspace: w } = b
    mkdirSync(join(w, 'node_modules/x'), { recursive: true })
    spawnSync('git', ['init', '-q', w])
    writeFileSync(join(w, 'large'), Buffer.alloc(2_000))
    const id = await b.call(() => {
      writeFileSync(join(w, 'node_modules/x/y'), 'y')
      writeFileSync(join(w, 'large'), Buffer.alloc(3_000))
      writeFileSync(join(w, 'small'), 's')
      spawnSync('git', ['-C', w, 'add', 'small'])
      spawnSync('git', ['-C', w, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'x'])
    })
    const [kept] = b.undo.list(SESSION)
    expect(kept?.limits.join(' ')).toMatch(/\.git, node_modules.*1 files of more than.*git’s history and index alone/s)
    const plan = await b.undo.plan([id ?? ''])
    expect(Object.fromEntries(plan.steps.map((s) => [s.path, s.state]))).toEqual({ large: 'not_kept', small: 'restore' })
    const commits = readFileSync(join(w, '.git/logs/HEAD'), 'utf8')
    await b.undo.apply(plan.token)
    expect(readFileSync(join(w, '.git/logs/HEAD'), 'utf8')).toBe(commits)
    expect(existsSync(join(w, 'small'))).toBe(false)
  })

  it('never opens a pipe, and leaves hard links alone', { timeout: 20_000 }, async () => {
    const b = bench()
    const { workspace: w } = b
    spawnSync('mkfifo', [join(w, 'pipe')])
    writeFileSync(join(w, 'one'), 'x')
    linkSync(join(w, 'one'), join(w, 'two'))
    const id = await b.call(() => {
      writeFileSync(join(w, 'one'), 'y')
    })
    await b.back(id)
    expect([readFileSync(join(w, 'one'), 'utf8'), readFileSync(join(w, 'two'), 'utf8')]).toEqual(['x', 'x'])
  })

  it('leaves the disk the room that everything else needs', async (context) => {
    const home = freshFolder('small')
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=20m', 'tmpfs', home]).status !== 0) context.skip()
    try {
      const b = openBench({}, home)
      writeFileSync(join(b.workspace, 'large'), Buffer.alloc(15_000_000, 1))
      const id = await b.call(() => {
        writeFileSync(join(b.workspace, 'large'), 'changed')
      })
      expect(b.undo.list(SESSION)[0]?.limits.join()).toContain('the disk has too little room')
      expect((await b.undo.plan([id ?? ''])).steps).toMatchObject([{ path: 'large', state: 'not_kept' }])
      expect(b.undo.usage().bytes).toBe(0)
      b.close()
    } finally {
      spawnSync('umount', [home])
    }
  })

  it('survives odd names', async () => {
    const b = bench()
    const names = ['a\nb', ' ', '-rf', '$(x)', 'q\'uo"te', '文', 'x'.repeat(255), 'tab\t', '\u202e']
    const bad = Buffer.concat([Buffer.from(`${b.workspace}/bad`), Buffer.from([0xff, 0xfe])]) // no text in any encoding
    for (const name of names) writeFileSync(join(b.workspace, name), name)
    const was = picture(b.workspace)
    writeFileSync(bad, 'x')
    const id = await b.call(() => {
      for (const name of names) writeFileSync(join(b.workspace, name), 'changed')
    })
    expect(b.undo.list(SESSION)[0]?.limits.join()).toContain('1 names')
    await b.back(id)
    rmSync(bad)
    expect(picture(b.workspace)).toEqual(was)
  })

  it('is ended after a kill in the middle of an effect, and can be undone then', async () => {
    const first = openBench()
    fill(first.workspace)
    const was = picture(first.workspace)
    const { undo, workspace } = first
    const call = { sessionId: SESSION, runId: 'r', callId: 'c', tool: 't', workspace }
    await undo.before({ ...call, scope: 'workspace' })
    writeFileSync(join(workspace, 'a.txt'), 'half')
    await undo.before({ ...call, scope: [join(workspace, 'src')] })
    rmSync(join(workspace, 'src'), { recursive: true })
    const b = first.again() // no call was ended: as after a kill
    open.push(b)
    expect(b.undo.list(SESSION)).toEqual([])
    const ended = await b.undo.recover()
    expect(ended).toHaveLength(2)
    await b.back(ended[0]?.id)
    expect(picture(workspace)).toEqual(was)
  })

  it('that is torn is not brought back', async () => {
    const first = openBench()
    writeFileSync(join(first.workspace, 'f'), 'before '.repeat(100))
    const id = await first.call(() => {
      writeFileSync(join(first.workspace, 'f'), 'after')
    })
    truncateSync(join(first.home, 'kept/1.pack'), 10)
    const b = first.again()
    open.push(b)
    expect(await b.back(id)).toMatchObject({ steps: [{ state: 'not_kept' }] })
    expect(readFileSync(join(b.workspace, 'f'), 'utf8')).toBe('after')
  })

  it('has an age and a size: the oldest goes first', async () => {
    let time = 1_000_000
    const first = openBench({ ageMs: 100, keptBytes: 25_000 }, undefined, undefined, () => time)
    const file = join(first.workspace, 'f')
    writeFileSync(file, 'a'.repeat(10_000))
    await first.call(() => {
      writeFileSync(file, 'b'.repeat(10_000))
    })
    time += 200
    first.undo.prune()
    expect(first.undo.list(SESSION)).toEqual([])
    const b = first.again()
    open.push(b)
    const ids: (string | undefined)[] = []
    for (const letter of 'cdef') {
      time++
      ids.push(
        await b.call(() => {
          writeFileSync(file, letter.repeat(10_000))
        })
      )
    }
    b.undo.prune()
    const c = b.again()
    open.splice(open.indexOf(b), 1, c)
    c.undo.prune()
    expect(c.undo.usage().bytes).toBeLessThanOrEqual(25_000)
    c.undo.clear()
    expect(c.undo.usage()).toMatchObject({ bytes: 0, calls: 0 })
    expect(readFileSync(file, 'utf8')).toBe('f'.repeat(10_000))
  })
})
