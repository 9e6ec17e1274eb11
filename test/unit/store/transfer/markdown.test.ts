// The document for readers: everything in it in an order that can be followed, and nothing of it outside its place.
import { afterEach, describe, expect, it } from 'vitest'
import type { Message } from '../../../../src/shared/message'
import { closeAll, exported, madeHere, opened, say } from './support'

afterEach(closeAll)

const answer = (text: string): Message => ({ role: 'assistant', model: 'm', stopReason: 'stop', parts: [{ type: 'text', text }] })

describe('a session as Markdown', () => {
  it('shows the path first, then each branch with the place where it leaves, and names', () => {
    const store = opened()
    const id = madeHere(store, 'Plants\n# no heading')
    const root = say(store, id, null, 'Hi')
    const one = say(store, id, root, answer('one'))
    const two = say(store, id, root, answer('two'))
    const deep = say(store, id, two, 'deeper')
    say(store, id, two, 'beside')
    store.sessions.setHead(id, one)
    store.sessions.setLabel(id, root, 'be*gin*', 1)
    store.sessions.setLabel(id, deep, 'deep', 1)
    const text = exported(store, id, 'markdown')
    expect(text).toContain('# Plants \\# no heading\n')
    expect(text.match(/^#+ .*$/gm)).toEqual([
      '# Plants \\# no heading',
      '### 1. Person — be\\*gin\\*',
      '### 2. m',
      '## Branch 1, from 1',
      '### 1.1. m',
      '### 1.2. Person — deep',
      '## Branch 2, from 1.1',
      '### 2.1. Person'
    ])
  })

  it('keeps results and arguments inside their fences', () => {
    const store = opened()
    const id = madeHere(store)
    const text = 'a\n````\n# not a heading\n```'
    say(store, id, null, { role: 'tool', callId: 'c', name: '# <b>x</b>', code: 'ok', text, durationMs: 1 })
    expect(exported(store, id, 'markdown')).toContain(`\`\`\`\`\`\n${text}\n\`\`\`\`\``)
    expect(exported(store, id, 'markdown')).toContain('### 1. Result of \\# \\<b\\>x\\</b\\> (ok)')
  })

  it.each([
    ['```js\nlet a = "<b>"', '```js\nlet a = "<b>"\n```'],
    ['~~~~\n~~~\n```', '~~~~\n~~~\n```\n~~~~'],
    ['a <!-- b', 'a &lt;!-- b'],
    ['<script>alert(1)</script>', '&lt;script>alert(1)&lt;/script>'],
    ['\\<script>', '\\&lt;script>'],
    ['a < b, `Array<string>` and `` `<b>` ``', 'a < b, `Array<string>` and `` `<b>` ``'],
    ['\\`<script>`', '\\`&lt;script>`'],
    ['` open\n# h <script> `', '` open\n# h &lt;script> `'],
    ['` open\n\n`<a>`', '` open\n\n`<a>`'],
    ['- x\n  ```\n<script>', '- x\n  ```\n&lt;script>']
  ])('words stay in their place: %j', (words, shown) => {
    const store = opened()
    const id = madeHere(store)
    const first = say(store, id, null, words)
    say(store, id, first, 'next')
    expect(exported(store, id, 'markdown')).toContain(`### 1. Person\n\n${shown}\n\n### 2. Person\n\nnext`)
  })
})
