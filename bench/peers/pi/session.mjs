// Pi's whole product around the loop: an AgentSession with a session file, without extensions, with compaction off.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAgentSession, createExtensionRuntime, ModelRuntime, SessionManager, SettingsManager } from '@earendil-works/pi-coding-agent'
import { call, message, model, result, scripted, text, tool } from './kit.mjs'

const resourceLoader = {
  getExtensions: () => ({ extensions: [], errors: [], runtime: createExtensionRuntime() }),
  getSkills: () => ({ skills: [], diagnostics: [] }),
  getPrompts: () => ({ prompts: [], diagnostics: [] }),
  getThemes: () => ({ themes: [], diagnostics: [] }),
  getAgentsFiles: () => ({ agentsFiles: [] }),
  getSystemPrompt: () => 'You are a test.',
  getSystemPromptSource: () => undefined,
  getAppendSystemPrompt: () => [],
  getAppendSystemPromptSources: () => [],
  extendResources: () => {},
  reload: async () => {}
}

/** Opens a session that holds `history` messages and hands it to `work`. */
async function withSession(history, work) {
  const dir = mkdtempSync(join(tmpdir(), 'pi-session-'))
  try {
    const agentDir = join(dir, 'agent')
    mkdirSync(agentDir)
    const modelRuntime = await ModelRuntime.create({ authPath: join(agentDir, 'auth.json'), modelsPath: join(agentDir, 'models.json') })
    const baseUrl = 'http://localhost:0'
    modelRuntime.registerProvider('scripted', { baseUrl, apiKey: 'none', api: 'openai-completions', models: [{ ...model, baseUrl }] })
    const sessionManager = SessionManager.create(dir, dir)
    for (let i = 0; i < history; i++) sessionManager.appendMessage(messageAt(i))
    const { session } = await createAgentSession({
      cwd: dir,
      agentDir,
      model,
      thinkingLevel: 'off',
      modelRuntime,
      resourceLoader,
      sessionManager,
      settingsManager: SettingsManager.inMemory({ compaction: { enabled: false } }),
      noTools: 'builtin',
      customTools: [tool('tick', async () => result('ok'), { n: { type: 'integer' } }, ['n'])]
    })
    try {
      return await work(session)
    } finally {
      session.dispose()
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** The same sizes as bench/core.ts stores. */
export const messageAt = (i) =>
  i % 2 === 0
    ? { role: 'user', content: `Question ${i}: ${'lorem ipsum '.repeat(12)}`, timestamp: Date.now() }
    : message([text(`Answer ${i}: ${'dolor sit amet '.repeat(20)}`)], 'stop')

/** `turns` tool turns on top of `history` messages, with a listener. */
export const sessionTurns = (turns, history) =>
  withSession(history, async (session) => {
    const marks = []
    session.agent.streamFunction = scripted((n) => {
      marks.push(performance.now())
      return n <= turns ? [call('tick', { n })] : [text('Done.')]
    })
    let events = 0
    session.subscribe(() => void events++)
    const start = performance.now()
    await session.prompt('Go.')
    const msPerTurn = (performance.now() - start) / turns
    if (events < turns) throw new Error('Pi did something else')
    const per = (from, to) => (marks[to] - marks[from]) / (to - from)
    return { msPerTurn, first: per(0, 100), last: per(turns - 100, turns) }
  })

/** One message of so many deltas, 64 an event-loop tick; deltas a second. */
export const sessionStream = (deltas) =>
  withSession(0, async (session) => {
    let chars = 0
    session.agent.streamFunction = scripted(async (_n, _context, stream) => {
      const partial = message([text('')], 'pending')
      stream.push({ type: 'start', partial })
      for (let i = 0; i < deltas; i++) {
        partial.content[0].text += 'abcd '
        stream.push({ type: 'text_delta', contentIndex: 0, delta: 'abcd ', partial })
        if (i % 64 === 0) await new Promise(setImmediate)
      }
      stream.push({ type: 'done', reason: 'stop', message: message(partial.content, 'stop') })
    })
    session.subscribe((event) => {
      if (event.type === 'message_update' && event.assistantMessageEvent.type === 'text_delta')
        chars += event.assistantMessageEvent.delta.length
    })
    const start = performance.now()
    await session.prompt('Write.')
    const seconds = (performance.now() - start) / 1_000
    if (chars !== deltas * 5) throw new Error(`${chars} characters arrived`)
    return deltas / seconds
  })
