// A long conversation, told in nobody's format: what rows and peers put into their stores before they measure. Questions, calls, results and
// answers follow each other, 240 characters on average; with what a store adds to them they are 560 bytes each in Pi's file and 820 in Tau's.

/** `call` is the id of the call that the words come with, or that they are the result of. */
export type Said =
  | { readonly who: 'user' | 'assistant'; readonly text: string }
  | { readonly who: 'caller' | 'tool'; readonly text: string; readonly call: string }

/** Message `i` (from 0) of the conversation. */
export function saidAt(i: number): Said {
  const n = String(i)
  switch (i % 4) {
    case 0:
      return { who: 'user', text: `Question ${n}: ${'lorem ipsum '.repeat(12)}` }
    case 1:
      return { who: 'caller', text: `Looking ${n}: ${'consectetur '.repeat(12)}`, call: `past-${n}` }
    case 2:
      return { who: 'tool', text: `Found ${n}: ${'sed do eiusmod '.repeat(20)}`, call: `past-${String(i - 1)}` }
    default:
      return { who: 'assistant', text: `Answer ${n}: ${'dolor sit amet '.repeat(20)}` }
  }
}
