// Edits that programs like ours got wrong: line ends, replacement text that is data, matches that are not unique, files that changed meanwhile.
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ToolOutput } from '../../src/main/loop/tool'
import { freshFolder } from '../support/folders'
import { toolBox } from '../support/tools'
import { judge, type Json, loadCases } from './cases'

interface Step {
  readonly do: string
  readonly path: string
  readonly b64?: string
  readonly gen?: { readonly repeat: string; readonly times: number }
  readonly old?: string
  readonly new?: string
  readonly replace_all?: boolean
  readonly edits?: readonly { readonly old: string; readonly new: string; readonly replace_all?: boolean }[]
  readonly content?: string
  readonly to?: string
}

describe.each(loadCases<{ steps: readonly Step[] }>('edit_tool'))('$n', ({ note, input, expect: expected }) => {
  it(note, async () => {
    const ws = freshFolder('edit')
    const box = toolBox()
    let output: ToolOutput = { code: 'ok', text: '' }
    for (const step of input.steps) output = (await play(box, ws, step)) ?? output
    const result = output.code === 'ok' ? 'ok' : 'error'
    const acceptable = (expected['acceptable'] ?? []) as readonly string[]
    if (result !== expected['result'] && acceptable.some((a) => a.startsWith(result))) return
    await judge(expected, {
      result: (wanted: string) => {
        expect(result, output.text).toBe(wanted)
      },
      error_class: (wanted: string) => {
        expect(output.code).toBe(wanted)
      },
      files: (files: readonly { path: string; b64: string }[]) => {
        for (const { path, b64 } of files) expect(readFileSync(join(ws, path), 'base64')).toBe(b64)
        expect(allFiles(ws)).toEqual(files.map((f) => f.path).sort())
      },
      replaced: (times: number) => {
        expect(output.text).toContain(`${String(times)} replacement`)
      },
      tell_model: (about: Json) => {
        for (const value of Object.values(about).flat()) expect(output.text).toContain(String(value))
      }
    })
  })
})

/** The result of a tool call; undefined for what somebody else does to the disk. */
async function play(box: ReturnType<typeof toolBox>, ws: string, step: Step): Promise<ToolOutput | undefined> {
  const { path } = step
  const file = join(ws, path)
  switch (step.do) {
    case 'disk':
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, step.gen ? step.gen.repeat.repeat(step.gen.times) : Buffer.from(step.b64 ?? '', 'base64'))
      return undefined
    case 'touch': {
      const later = new Date(statSync(file).mtimeMs + 5_000)
      utimesSync(file, later, later)
      return undefined
    }
    case 'read':
      return box.use('read_file', { path }, ws)
    case 'edit': {
      const edits = step.edits ?? [{ old: step.old ?? '', new: step.new ?? '', replace_all: step.replace_all ?? false }]
      return box.use('edit_file', { path, edits: edits.map((e) => ({ old: e.old, new: e.new, ...(e.replace_all && { all: true }) })) }, ws)
    }
    case 'write':
      return box.use('write_file', { path, content: step.content ?? Buffer.from(step.b64 ?? '', 'base64').toString('utf8') }, ws)
    case 'rename':
      return box.use('move_file', { from: path, to: step.to ?? '' }, ws)
    default:
      throw new Error(`the runner cannot "${step.do}"`)
  }
}

const allFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((e) => e.isFile())
    .map((e) => join(e.parentPath, e.name).slice(folder.length + 1))
    .sort()
