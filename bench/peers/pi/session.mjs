// Pi's whole product around the loop: an AgentSession with a session file, without extensions, with compaction off.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createAgentSession, createExtensionRuntime, ModelRuntime, SessionManager, SettingsManager } from '@earendil-works/pi-coding-agent'
import { call, freshFolder, message, model, result, scripted, text, tool } from './kit.mjs'

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

/** Opens a session that holds `history` messages of what `said` tells, in a folder of its own, and hands it to `work`. */
async function withSession(history, said, work) {
  const dir = freshFolder()
  const agentDir = join(dir, 'agent')
  mkdirSync(agentDir)
  const modelRuntime = await ModelRuntime.create({ authPath: join(agentDir, 'auth.json'), modelsPath: join(agentDir, 'models.json') })
  const baseUrl = 'http://localhost:0'
  modelRuntime.registerProvider('scripted', { baseUrl, apiKey: 'none', api: 'openai-completions', models: [{ ...model, baseUrl }] })
  const sessionManager = SessionManager.create(dir, dir)
  for (let i = 0; i < history; i++) sessionManager.appendMessage(messageAt(i, said))
  let ticks = 0
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
    customTools: [tool('tick', async () => result(`ok ${++ticks}`), { n: { type: 'integer' } }, ['n'])]
  })
  try {
    return await work(session)
  } finally {
    session.dispose()
  }
}

/** Message `i` of the conversation that `said` tells (see bench/history.ts). */
export function messageAt(i, said) {
  const { who, text: words, call: id } = said(i)
  switch (who) {
    case 'user':
      return { role: 'user', content: words, timestamp: Date.now() }
    case 'caller':
      return message([text(words), { type: 'toolCall', id, name: 'look', arguments: {} }], 'toolUse')
    case 'tool':
      return { role: 'toolResult', toolCallId: id, toolName: 'look', ...result(words), isError: false, timestamp: Date.now() }
    default:
      return message([text(words)], 'stop')
  }
}

/** `turns` tool turns on top of `history` messages, with a listener; the event loop turns once before each answer. */
export const sessionTurns = (turns, history, said) =>
  withSession(history, said, async (session) => {
    const marks = []
    session.agent.streamFunction = scripted(async (n) => {
      marks.push(performance.now())
      await new Promise(setImmediate)
      return n <= turns ? [call('tick', { n })] : [text('Done.')]
    })
    let events = 0
    session.subscribe(() => void events++)
    const start = performance.now()
    await session.prompt('Go.')
    const msPerTurn = (performance.now() - start) / turns
    if (marks.length !== turns + 1 || events < turns) throw new Error(`${marks.length} requests, ${events} events`)
    const per = (from, to) => (marks[to] - marks[from]) / (to - from)
    return { msPerTurn, first: per(0, 100), last: per(turns - 100, turns) }
  })

/** One message of so many deltas, 64 an event-loop tick; deltas a second. */
export const sessionStream = (deltas, piece) =>
  withSession(0, undefined, async (session) => {
    let chars = 0
    session.agent.streamFunction = scripted(async (_n, _context, stream) => {
      const partial = message([text('')], 'pending')
      stream.push({ type: 'start', partial })
      for (let i = 0; i < deltas; i++) {
        partial.content[0].text += piece
        stream.push({ type: 'text_delta', contentIndex: 0, delta: piece, partial })
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
    if (chars !== deltas * piece.length) throw new Error(`${chars} characters arrived`)
    return deltas / seconds
  })
