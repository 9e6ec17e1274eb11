import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { messageEntries } from '../../src/shared/tree'
import { textOf } from '../../src/shared/message'
import { freshFolder } from '../support/harness'
import { childrenOf, type Client, homeWithTinyModels, isAlive, startWeb, until } from '../support/host'

/** Collects the text that a client was shown, with the time of each piece. */
function watchText(api: Client, sessionId: string): { shown: () => string; ended: () => string | undefined } {
  let shown = ''
  let ended: string | undefined
  void (async () => {
    for await (const event of await api.sessions.watch({ sessionId, after: 0 })) {
      if (event.type === 'message_update' && event.part === 'text') shown += event.delta
      if (event.type === 'agent_end') ended = event.cause.kind === 'error' ? event.cause.error.code : event.cause.kind
    }
  })().catch(() => undefined) // the connection dies with the host
  return { shown: () => shown, ended: () => ended }
}

describe('the app, killed in the middle of an answer', () => {
  it('has on the next start all that was on the screen, and says that the run was interrupted', async () => {
    const home = freshFolder('home')
    const workspace = freshFolder('work')
    const script = join(workspace, 'slow.script')
    writeFileSync(script, `speed: 200\nsay: ${Array.from({ length: 2_000 }, (_, i) => `word${String(i)}`).join(' ')}\n---\nsay: On we go.`)
    const first = await startWeb({ home, workspace })
    const { api } = await first.connect()
    const { id: sessionId } = await api.sessions.create({ model: `scripted:${script}` })
    const watched = watchText(api, sessionId)
    await api.run.prompt({ sessionId, text: 'go', itemId: 'a' })
    await until('some text', () => watched.shown().length > 1_000)
    await first.end('SIGKILL')
    const shown = watched.shown()

    const second = await startWeb({ home, workspace })
    const again = await second.connect()
    const snapshot = await again.api.sessions.open({ sessionId })
    const kept = messageEntries(snapshot.entries).at(-1)
    expect(kept && textOf(kept.message).startsWith(shown)).toBe(true)
    expect(kept?.message).toMatchObject({ role: 'assistant', stopReason: 'interrupted' })
    expect(snapshot.run).toMatchObject({ state: 'interrupted', cause: { kind: 'interrupted' } })
    expect(snapshot.session.state).toBe('interrupted')
    const after = watchText(again.api, sessionId)
    await again.api.run.prompt({ sessionId, text: 'go on', itemId: 'b' })
    await until('the next answer', () => after.ended() === 'natural')
    again.close()
    expect(await second.end()).toBe(0)
  })

  it('takes its engine with it, whether it is told to end or killed', async () => {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const home = homeWithTinyModels()
      const web = await startWeb({ home })
      const { api } = await web.connect()
      const { id: sessionId } = await api.sessions.create({ model: 'engine:tiny-tau' })
      await api.run.prompt({ sessionId, text: 'loop', itemId: 'a' })
      const watched = watchText(api, sessionId)
      await until('text from the engine', () => watched.shown().length > 50, 20_000)
      const engine = childrenOf(web.child.pid ?? 0)
      expect(engine).toHaveLength(process.platform === 'linux' ? 1 : 0)
      expect(await web.end(signal)).toBe(signal === 'SIGTERM' ? 0 : null)
      await until('the engine to be gone', () => engine.every((pid) => !isAlive(pid)))
    }
  })
})

describe('the engine, killed in the middle of an answer', () => {
  it.runIf(process.platform === 'linux')('is an honest error, and the next prompt works', async () => {
    const web = await startWeb({ home: homeWithTinyModels() })
    const { api, close } = await web.connect()
    const { id: sessionId } = await api.sessions.create({ model: 'engine:tiny-tau' })
    const watched = watchText(api, sessionId)
    await api.run.prompt({ sessionId, text: 'loop', itemId: 'a' })
    await until('text from the engine', () => watched.shown().length > 50, 20_000)
    const [engine] = childrenOf(web.child.pid ?? 0)
    process.kill(engine ?? 0, 'SIGKILL')
    await until('the error', () => watched.ended() !== undefined)
    expect(watched.ended()).toBe('engine_crashed')
    const kept = messageEntries((await api.sessions.open({ sessionId })).entries).at(-1)
    expect(kept?.message).toMatchObject({ role: 'assistant', stopReason: 'error', error: { code: 'engine_crashed' } })
    const next = watchText(api, sessionId)
    await api.run.prompt({ sessionId, text: 'list', itemId: 'b' })
    await until('the next answer', () => next.ended() === 'natural', 20_000)
    close()
    expect(await web.end()).toBe(0)
  })
})
