import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { abilitiesOf, opensThinking, readToolText, type ToolTextPiece } from '../../../src/shared/tool-text'

interface Options {
  calls?: boolean
  thinking?: boolean
  cut?: boolean
}

/** Everything that comes out, neighbours of one type joined. */
function read(chunks: readonly string[], { calls = true, thinking = false, cut = false }: Options = {}): ToolTextPiece[] {
  const reader = readToolText({ calls, thinking })
  const joined: ToolTextPiece[] = []
  for (const piece of [...chunks.flatMap((c) => reader.push(c)), ...reader.end(cut)]) {
    const last = joined.at(-1)
    if ((piece.type === 'text' || piece.type === 'thinking') && last?.type === piece.type)
      joined[joined.length - 1] = { type: piece.type, delta: last.delta + piece.delta }
    else joined.push(piece)
  }
  return joined
}

const CALL = '<tool_call>\n{"name": "list_dir", "arguments": {"path": "."}}\n</tool_call>'
const call = { type: 'call', name: 'list_dir', arguments: '{"path":"."}' }

describe('readToolText', () => {
  it('passes plain text through unchanged, white space included', () => {
    expect(read([' Hello ', 'there.\n'])).toEqual([{ type: 'text', delta: ' Hello there.\n' }])
  })

  it('takes a call out of the text and trims around it', () => {
    expect(read(['Let me look.\n' + CALL + '\n'])).toEqual([{ type: 'text', delta: 'Let me look.' }, call])
  })

  it('takes several calls, also as a list in one tag', () => {
    expect(read([CALL + '\n' + CALL])).toEqual([call, call])
    expect(read(['<tool_call>[{"name":"a"},{"name":"b","parameters":{"x":1}}]</tool_call>'])).toEqual([
      { type: 'call', name: 'a', arguments: '{}' },
      { type: 'call', name: 'b', arguments: '{"x":1}' }
    ])
  })

  it('takes a call whose closing tag is missing at the end of the turn', () => {
    expect(read(['<tool_call>{"name":"list_dir","arguments":{"path":"."}}'])).toEqual([call])
  })

  it('keeps arguments that are JSON text in a string', () => {
    expect(read(['<tool_call>{"name":"a","arguments":"{\\"x\\": 1}"}</tool_call>'])).toEqual([
      { type: 'call', name: 'a', arguments: '{"x": 1}' }
    ])
  })

  it('does not end a call at a closing tag inside its arguments', () => {
    const text = '<tool_call>{"name":"write_file","arguments":{"content":"see </tool_call> here"}}</tool_call>done'
    expect(read([text])).toEqual([
      { type: 'call', name: 'write_file', arguments: '{"content":"see </tool_call> here"}' },
      { type: 'text', delta: 'done' }
    ])
  })

  it('never takes a call that the token limit cut, not even a whole one without its closing tag', () => {
    expect(read(['<tool_call>{"name":"write_file","arguments":{"content":"abc'], { cut: true })).toMatchObject([
      { type: 'broken', reason: 'cut', name: 'write_file' }
    ])
    expect(read(['<tool_call>{"name":"a","arguments":{}}'], { cut: true })).toMatchObject([{ type: 'broken', reason: 'cut' }])
    expect(read(['<tool_call>{"name":"a","arguments":{"x":"tag </tool_call> and'], { cut: true })).toMatchObject([
      { type: 'broken', reason: 'cut' }
    ])
  })

  it('reports broken JSON with what can be told of it, and reads on behind it', () => {
    expect(read(['<tool_call>{"name": "a", "arguments": {"x": }}</tool_call>' + CALL])).toMatchObject([
      { type: 'broken', reason: 'bad_json', name: 'a', arguments: '{"x": }' },
      call
    ])
  })

  it('separates thinking from text', () => {
    expect(read(['<think>\nhm\n</think>\n\nFour.'])).toEqual([
      { type: 'thinking', delta: 'hm' },
      { type: 'text', delta: 'Four.' }
    ])
    expect(read(['hm</think>Four.'], { thinking: true })).toEqual([
      { type: 'thinking', delta: 'hm' },
      { type: 'text', delta: 'Four.' }
    ])
  })

  it('leaves a think tag alone that stands in the middle of an answer', () => {
    expect(read(['The tag <think> opens it.'])).toEqual([{ type: 'text', delta: 'The tag <think> opens it.' }])
  })

  it('drops a call that was only thought of, and takes one when the thinking never ended', () => {
    expect(read(['<think>maybe ' + CALL + ' or not</think>No.'])).toEqual([
      { type: 'thinking', delta: 'maybe ' + CALL + ' or not' },
      { type: 'text', delta: 'No.' }
    ])
    expect(read(['<think>look ' + CALL])).toEqual([{ type: 'thinking', delta: 'look ' }, call])
  })

  it('leaves call syntax alone when no tools were offered', () => {
    expect(read([CALL], { calls: false })).toEqual([{ type: 'text', delta: CALL }])
  })

  const soup = fc
    .array(
      fc.oneof(
        fc.constantFrom('<think>', '</think>', '<tool_call>', '</tool_call>', '<', '<to', 'ol_call>', '\n', ' ', '"', '{', '}', CALL, '🙂'),
        fc.string({ maxLength: 6 })
      ),
      { maxLength: 12 }
    )
    .map((parts) => parts.join(''))
  const options = fc.record({ calls: fc.boolean(), thinking: fc.boolean(), cut: fc.boolean() })

  it('gives the same result however the text is cut into chunks', () => {
    fc.assert(
      fc.property(soup, options, fc.array(fc.nat({ max: 5 }), { maxLength: 60 }), (text, how, sizes) => {
        const chunks: string[] = []
        let rest = text
        for (const size of sizes) {
          chunks.push(rest.slice(0, size))
          rest = rest.slice(size)
        }
        expect(read([...chunks, rest], how)).toEqual(read([text], how))
      }),
      { numRuns: 2_000 }
    )
  })

  it('never shows a whole opening tag of a call when tools were offered', () => {
    fc.assert(
      fc.property(soup, fc.boolean(), (text, cut) => {
        for (const piece of read(Array.from(text), { cut })) if (piece.type === 'text') expect(piece.delta).not.toContain('<tool_call>')
      }),
      { numRuns: 1_000 }
    )
  })
})

describe('templates', () => {
  it('says what a chat template can do', () => {
    expect(abilitiesOf('{% if tools %}{{ tools }}{% endif %}')).toEqual({ tools: true, thinking: false })
    expect(abilitiesOf("{{ '<think>' }}")).toEqual({ tools: false, thinking: true })
    expect(abilitiesOf(undefined)).toEqual({ tools: false, thinking: false })
  })
  it('sees a think block that the prompt opened', () => {
    expect(opensThinking('<|im_start|>assistant\n<think>\n')).toBe(true)
    expect(opensThinking('<|im_start|>assistant\n')).toBe(false)
  })
})
