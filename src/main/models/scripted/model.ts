// The scripted model: plays a script through the same interface as a real model (spec L4). It keeps nothing: which answer comes next follows
// from the request alone, so a reload, a branch or a crash plays on where the conversation is.
import { setImmediate, setTimeout } from 'node:timers/promises'
import type { ModelInfo } from '../../../shared/contract'
import { type Message, textOf } from '../../../shared/message'
import type { Model, ModelEvent, ModelRequest, StreamFn } from '../model'
import type { Scene, Script, Step } from './script'

/** A model with a script; `id` as the catalog knows it. */
export function scriptedModel(id: string, name: string, script: Script): Model {
  const info: ModelInfo = { id, name, source: 'scripted', tools: true, ready: true }
  return { info, contextWindow: 1_000_000, stream: scriptedStream(script) }
}

export const scriptedStream =
  (script: Script): StreamFn =>
  (request, signal) =>
    play(choose(script, request.messages), request, signal)

/** Steps of the answer to this request. */
export function choose(script: Script, messages: readonly Message[]): readonly Step[] {
  const lastUser = messages.findLastIndex((m) => m.role === 'user')
  const words = lastUser === -1 ? '' : textOf(messages[lastUser] as Message).toLowerCase()
  const special = script.scenes.find((s) => s.when !== undefined && words.includes(s.when))
  const scene: Scene = special ?? script.scenes.find((s) => s.when === undefined) ?? { answers: [] }
  // a scene with `when` begins anew with those words; the plain one goes on over the whole conversation
  const since = special ? messages.slice(lastUser) : messages
  const turn = since.filter((m) => m.role === 'assistant').length
  const repeating = scene.answers.findIndex((a) => a.repeat)
  const answer = scene.answers[turn] ?? (repeating === -1 ? undefined : scene.answers[repeating])
  if (!answer) return [{ do: 'say', text: '(The script ends here.)' }]
  const result = messages.at(-1)
  return (result?.role === 'tool' ? answer.after.get(result.code) : undefined) ?? answer.steps
}

async function* play(steps: readonly Step[], request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  let wordsPerSecond = 0
  let words = 0
  let calls = false
  const usage = (): ModelEvent & { type: 'end' } => ({ type: 'end', stopReason: calls ? 'calls' : 'stop', usage: { outputTokens: words } })
  try {
    for (const step of steps) {
      signal.throwIfAborted()
      switch (step.do) {
        case 'say':
        case 'think': {
          const pieces = fill(step.text, request.messages).match(/\s*\S+\s*/g) ?? []
          for (const delta of pieces) {
            yield { type: step.do === 'say' ? 'text' : 'thinking', delta }
            words++
            if (wordsPerSecond > 0) await setTimeout(1_000 / wordsPerSecond, undefined, { signal })
            else if (words % 64 === 0) await setImmediate(undefined, { signal })
          }
          break
        }
        case 'call':
          calls = true
          yield { type: 'call', name: step.name, arguments: step.arguments }
          break
        case 'pause':
          await setTimeout(step.ms, undefined, { signal })
          break
        case 'speed':
          wordsPerSecond = step.wordsPerSecond
          break
        case 'phase':
          yield { type: 'phase', phase: { phase: step.phase, ...(step.progress !== undefined && { progress: step.progress }) } }
          break
        case 'fault':
          yield { type: 'error', error: { code: step.code, message: step.message, retryable: false } }
          return
        case 'cut':
          yield { ...usage(), stopReason: 'length' }
          return
        case 'hang':
          await setTimeout(2 ** 31 - 1, undefined, { signal })
          break
        case 'vanish':
          return
      }
    }
    yield usage()
  } catch (error) {
    if (!signal.aborted) throw error
    yield { type: 'error', error: { code: 'aborted', message: 'Stopped.', retryable: false } }
  }
}

/** `{{user}}`: the latest words of the person; `{{result}}`: the latest tool result. */
function fill(text: string, messages: readonly Message[]): string {
  const latest = (role: Message['role']): string => {
    const message = messages.findLast((m) => m.role === role)
    return message ? textOf(message) : ''
  }
  return text.replaceAll('{{user}}', () => latest('user')).replaceAll('{{result}}', () => latest('tool'))
}
