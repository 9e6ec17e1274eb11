// Script files of the scripted model (spec L4): a text that reads like the conversation it plays. The language is described in
// docs/scripted-model.md; this file reads it.

export type Step =
  | { readonly do: 'say' | 'think'; readonly text: string }
  | { readonly do: 'call'; readonly name: string; readonly arguments: string }
  | { readonly do: 'pause'; readonly ms: number }
  | { readonly do: 'speed'; readonly wordsPerSecond: number }
  | { readonly do: 'phase'; readonly phase: 'queued' | 'loading' | 'reading'; readonly progress?: number }
  | { readonly do: 'fault'; readonly code: string; readonly message: string }
  | { readonly do: 'cut' | 'hang' | 'vanish' }

interface Answer {
  readonly steps: readonly Step[]
  /** Played instead when the latest tool result has that code. */
  readonly after: ReadonlyMap<string, readonly Step[]>
  /** Played for every further request too. */
  readonly repeat: boolean
}
/** Answers in the order of requests. A scene with `when` is played while the latest words of the person contain it. */
export interface Scene {
  readonly when?: string
  readonly answers: readonly Answer[]
}
export interface Script {
  readonly scenes: readonly Scene[]
}
export type ParsedScript = { ok: true; script: Script } | { ok: false; code: 'script_error'; message: string }

interface OpenAnswer {
  steps: Step[]
  after: Map<string, Step[]>
  repeat: boolean
}
interface OpenScene {
  when?: string
  answers: OpenAnswer[]
}

const MAX_PAUSE_MS = 10 * 60_000

/** Reads a script. The error names the line. */
export function parseScript(text: string): ParsedScript {
  const scenes: OpenScene[] = [{ answers: [] }]
  let target: Step[] | undefined
  const answer = (): OpenAnswer => {
    const scene = scenes.at(-1) as OpenScene
    const fresh: OpenAnswer = { steps: [], after: new Map(), repeat: false }
    scene.answers.push(fresh)
    return fresh
  }
  let open: OpenAnswer | undefined
  let blank = 0 // empty lines inside a text are part of it
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  for (const [index, line] of lines.entries()) {
    const wrong = (what: string): ParsedScript => ({ ok: false, code: 'script_error', message: `Line ${String(index + 1)}: ${what}` })
    if (line.trim() === '') {
      blank++
      continue
    }
    const gap = '\n'.repeat(blank + 1)
    blank = 0
    if (line.startsWith('#')) continue
    if (/^\s{2}/.test(line)) {
      const last = target?.at(-1)
      if (!target || !last || (last.do !== 'say' && last.do !== 'think'))
        return wrong('an indented line continues "say" or "think"; there is none above it.')
      target[target.length - 1] = { ...last, text: `${last.text}${gap}${line.slice(2)}` }
      continue
    }
    const alternative = /^---\s*after\s+(\S+)\s*$/.exec(line)
    if (alternative) {
      if (!open) return wrong('"--- after" needs an answer above it.')
      target = []
      open.after.set(alternative[1] ?? '', target)
      continue
    }
    if (/^---\s*$/.test(line)) {
      target = undefined
      open = undefined
      continue
    }
    const scene = /^===\s*when\s+(.+)$/.exec(line)
    if (scene) {
      scenes.push({ when: (scene[1] ?? '').trim().toLowerCase(), answers: [] })
      target = undefined
      open = undefined
      continue
    }
    if (!target) {
      open = answer()
      target = open.steps
    }
    if (/^repeat\s*$/.test(line)) {
      if (open) open.repeat = true
      continue
    }
    const step = parseStep(line)
    if (typeof step === 'string') return wrong(step)
    target.push(step)
  }
  const filled = scenes.filter((s) => s.answers.length > 0)
  return filled.length > 0
    ? { ok: true, script: { scenes: filled } }
    : { ok: false, code: 'script_error', message: 'The script is empty: write at least one line such as "say: Hello."' }
}

/** A step, or what is wrong with the line. */
function parseStep(line: string): Step | string {
  const [, word = '', rest = ''] = /^([a-z]+)(?::\s?(.*))?$/.exec(line) ?? []
  switch (word) {
    case 'say':
    case 'think':
      return { do: word, text: rest }
    case 'call': {
      const [, name, args = ''] = /^(\S+)\s*(.*)$/.exec(rest) ?? []
      return name === undefined ? 'write "call: NAME {arguments}".' : { do: 'call', name, arguments: args }
    }
    case 'pause': {
      const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)\s*(ms|s)$/.exec(rest.trim()) ?? []
      const ms = Number(number) * (unit === 's' ? 1_000 : 1)
      return unit === '' || ms > MAX_PAUSE_MS ? 'write "pause: 300ms" or "pause: 2s" (ten minutes at most).' : { do: 'pause', ms }
    }
    case 'speed':
      return /^\d+$/.test(rest.trim())
        ? { do: 'speed', wordsPerSecond: Number(rest) }
        : 'write "speed: 20" (words a second, 0 for all at once).'
    case 'phase': {
      const [, phase, percent] = /^(queued|loading|reading)(?:\s+(\d{1,3})%)?$/.exec(rest.trim()) ?? []
      if (phase !== 'queued' && phase !== 'loading' && phase !== 'reading')
        return 'write "phase: loading 40%" (queued, loading or reading).'
      return { do: 'phase', phase, ...(percent !== undefined && { progress: Math.min(1, Number(percent) / 100) }) }
    }
    case 'fault': {
      const [, code, message] = /^(\S+)\s+(.+)$/.exec(rest) ?? []
      return code === undefined || message === undefined ? 'write "fault: CODE message".' : { do: 'fault', code, message }
    }
    case 'cut':
    case 'hang':
    case 'vanish':
      return { do: word }
    default:
      return `"${line.slice(0, 40)}" is not a step. The steps are say, think, call, pause, speed, phase, fault, cut, hang, vanish, repeat.`
  }
}
