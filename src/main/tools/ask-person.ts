import { z } from 'zod'
import type { Tool } from '../loop/tool'

const Arguments = z.strictObject({
  question: z.string().trim().min(1).max(4_000),
  choices: z.array(z.string().trim().min(1).max(300)).max(9).optional()
})

/** A question to the person, with choices where the model has some; the run waits for the answer as it waits for an approval. */
export const askPersonTool: Tool<z.infer<typeof Arguments>> = {
  name: 'ask_person',
  description: 'Ask the person when only they can decide.',
  label: 'readonly',
  replay: 'safe',
  parameters: Arguments,
  asksPerson: true,
  preview: ({ question, choices = [] }) => Promise.resolve({ preview: { kind: 'question', question, choices }, basis: '' }),
  execute: (_, { basis }) =>
    Promise.resolve(
      basis === undefined || basis === ''
        ? { code: 'no_answer', text: 'The person gave no answer. Go on with what you know, or end here.' }
        : { code: 'ok', text: basis }
    )
}
