import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import { createRegistry } from '../../../src/main/loop/tool'
import { outputFiles } from '../../../src/main/store/outputs'
import { allTools } from '../../support/built-in'
import { freshFolder } from '../../support/folders'

describe('all tools together', () => {
  it('cost at most 800 tokens when none is used', () => {
    const { specs } = createRegistry(allTools(outputFiles(freshFolder('outputs'), Date.now)))
    const sent = specs.map((spec) => ({ type: 'function', function: spec })) // as they stand in a request
    const each = specs.map((spec) => `${spec.name} ${String(encode(JSON.stringify(spec)).length)}`).join(', ')
    expect(encode(JSON.stringify(sent)).length, each).toBeLessThanOrEqual(800)
  })
})
