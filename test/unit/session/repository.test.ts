// A whole piece of work in a real repository, by a scripted model: search, read, three edits, the tests, one command that is refused, one that is
// allowed by a grant the person changed, and an undo back to the start. After it the repository is what it was, byte for byte, and git agrees.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { StreamFn } from '../../../src/main/models/model'
import { textOf } from '../../../src/shared/message'
import type { Rule } from '../../../src/shared/policy'
import type { Answer } from '../../../src/shared/session'
import { messagesOf } from '../../support/path'
import { sandbox } from '../../support/built-in'
import { freshFolder } from '../../support/folders'
import { eventsOf, type Harness, openHarness, say, scripted, waitFor } from '../../support/harness'
import { picture } from '../undo/support'

let h: Harness | undefined
afterEach(async () => {
  await h?.close()
})

const git = (folder: string, ...args: string[]): string =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], { encoding: 'utf8' })

function repository(): string {
  const folder = freshFolder('repo')
  mkdirSync(join(folder, 'src'))
  writeFileSync(join(folder, 'src/add.mjs'), 'export const add = (a, b) => a - b\n')
  writeFileSync(join(folder, 'src/names.mjs'), "export const name = 'summ'\r\nexport const other = 1\r\n")
  writeFileSync(join(folder, 'README.md'), '# summ\n\nAdds numbers.\n')
  writeFileSync(
    join(folder, 'test.mjs'),
    "import { add } from './src/add.mjs'\nif (add(2, 3) !== 5) { console.error('wrong'); process.exit(1) }\nconsole.log('all good')\n"
  )
  writeFileSync(join(folder, 'test.sh'), '#!/bin/sh\nnode test.mjs\n', { mode: 0o755 })
  git(folder, 'init', '-q')
  git(folder, 'add', '.')
  git(folder, 'commit', '-qm', 'start')
  return folder
}

const SCRIPT = `
call: search_text {"pattern": "summ"}
---
call: read_file {"path": "src/add.mjs"}
---
call: edit_file {"path": "src/add.mjs", "edits": [{"old": "a - b", "new": "a + b"}]}
call: edit_file {"path": "src/names.mjs", "edits": [{"old": "'summ'", "new": "'sum'"}]}
call: edit_file {"path": "README.md", "edits": [{"old": "# summ", "new": "# sum"}]}
---
call: run_command {"command": "./test.sh"}
---
call: run_command {"command": "rm -rf src"}
---
call: run_command {"command": "node test.mjs > log.txt && mkdir build && cp src/add.mjs build/"}
---
call: run_command {"command": "node test.mjs --again"}
---
say: Done.
`

it('works in a repository and is undone to the last byte', { timeout: 60_000 }, async () => {
  const workspace = repository()
  const was = picture(workspace)
  h = openHarness(scripted(SCRIPT), { workspace })
  const session = h.session()
  session.setMode('workspace')
  const asked: string[] = []
  const answered = (async () => {
    const rule: Rule = { verdict: 'allow', tool: 'run_command', command: 'node test.mjs **' }
    const answers: Answer[] = [
      { kind: 'allow', scope: 'once' },
      { kind: 'deny', reason: 'src is needed' },
      { kind: 'allow', scope: 'always', rule }
    ]
    for await (const event of session.watch(0, AbortSignal.timeout(50_000))) {
      if (event.type === 'agent_end') return
      if (event.type !== 'approval_request') continue
      asked.push(event.approval.preview.kind === 'command' ? event.approval.preview.command : event.approval.tool)
      if (event.approval.preview.kind === 'command') expect(event.approval.preview.sandbox).toBe(sandbox.kind)
      const answer = answers.shift()
      if (answer) expect(await session.answer(event.approval.id, answer)).toMatchObject({ ok: true })
    }
  })()
  await say(session, 'Mend the sum.')
  await answered

  // the edits were free, each command asked, and the last one was let through by what was granted
  expect(asked).toEqual(['./test.sh', 'rm -rf src', 'node test.mjs > log.txt && mkdir build && cp src/add.mjs build/'])
  const results = messagesOf(session).filter((m) => m.role === 'tool')
  expect(results.map((m) => m.code)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'denied', 'ok', 'ok'])
  expect(results[5]?.text).toContain('all good')
  expect(results[6]?.text).toContain('src is needed')
  expect(picture(workspace)).not.toEqual(was)
  expect(git(workspace, 'status', '--porcelain')).toContain('M src/add.mjs')

  const first = session.tree()[0]?.id ?? ''
  const plan = await session.planUndo({ kind: 'entry', entryId: first })
  if (!plan.ok) throw new Error(plan.message)
  expect(plan.value.steps.map((s) => [s.path, s.state])).toEqual(
    ['README.md', 'build', 'build/add.mjs', 'log.txt', 'src/add.mjs', 'src/names.mjs'].map((path) => [path, 'restore'])
  )
  expect(await session.applyUndo(plan.value.token)).toMatchObject({ ok: true })
  expect(git(workspace, 'status', '--porcelain')).toBe('')
  const now = picture(workspace)
  for (const each of [was, now]) delete each['.git/index'] // git itself writes it anew when it is asked for the state
  expect(now).toEqual(was)
})

it('shows no secret of what a command prints, neither while it runs nor after', { timeout: 30_000 }, async () => {
  const token = `ghp_${'aB3d'.repeat(9)}`
  h = openHarness(
    scripted(`call: run_command {"command": "echo ${token.slice(0, 10)}'${token.slice(10)}'; sleep 0.2; echo end"}\n---\nsay: Done.`)
  )
  const session = h.session()
  const answered = waitFor(session, 'approval_request').then(({ approval }) =>
    session.answer(approval.id, { kind: 'allow', scope: 'once' })
  )
  await say(session, 'Go.')
  await answered
  const [result] = messagesOf(session).filter((m) => m.role === 'tool')
  expect(result?.text).toMatch(/^\[secret: GitHub token\]\nend\n/)
  const shown = eventsOf(h.store, session).filter((e) => e.type === 'tool_update' || e.type === 'tool_end')
  expect(shown.length).toBeGreaterThan(1)
  expect(JSON.stringify(shown)).not.toContain(token)
})

it('two sessions that edit one file at once lose neither edit', { timeout: 30_000 }, async () => {
  const lines = Array.from({ length: 6 }, (_, i) => `line ${String(i)}`)
  const edit = (n: number): StreamFn =>
    scripted(
      `call: read_file {"path": "a.txt"}\n---\ncall: edit_file {"path": "a.txt", "edits": [{"old": "line ${String(n)}", "new": "LINE ${String(n)}"}]}\n---\nsay: Done.`
    )
  const streams = lines.map((_, n) => edit(n))
  h = openHarness((request, signal) => {
    const words = request.messages.find((m) => m.role === 'user')
    return (streams[Number(words && textOf(words))] as StreamFn)(request, signal)
  })
  writeFileSync(join(h.workspace, 'a.txt'), `${lines.join('\n')}\n`)
  const made = lines.map(() => (h as Harness).session())
  for (const session of made) session.setMode('workspace')
  await Promise.all(made.map((session, n) => say(session, String(n))))
  const codes = made.map(
    (session) =>
      messagesOf(session)
        .filter((m) => m.role === 'tool')
        .at(-1)?.code
  )
  const text = readFileSync(join(h.workspace, 'a.txt'), 'utf8')
  // whoever came too late was told so; whoever was told "ok" is in the file
  expect(new Set(codes)).toEqual(new Set(codes.includes('stale') ? ['ok', 'stale'] : ['ok']))
  codes.forEach((code, n) => {
    expect(text.includes(`LINE ${String(n)}`), String(n)).toBe(code === 'ok')
  })
})
