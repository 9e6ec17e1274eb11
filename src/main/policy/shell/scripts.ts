// Small programs in the words of a command: those of sed and awk can write files and start programs.

/** Whether a sed script does nothing but choose, print and change lines. What is not plainly so is not. */
export function sedOnlyReads(script: string): boolean {
  const address = String.raw`(?:\d+|\$|/(?:[^/\\\n]|\\.)*/I?)`
  const range = String.raw`(?:${address}(?:\s*[,~]\s*(?:\+?\d+|${address}))?\s*!?)?`
  const delimited = (d: string): string => String.raw`s${d}(?:[^${d}\\\n]|\\.)*${d}(?:[^${d}\\\n]|\\.)*${d}[gpiI0-9]*`
  const body = String.raw`(?:[pdqQnNhHgGxDPl=]|${['/', '\\|', '#', ','].map(delimited).join('|')}|y/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/)`
  return new RegExp(String.raw`^(?:\s*${range}\s*${body}?\s*(?:[;\n]|$))+$`).test(script) && script.length < 2_000
}

/** Whether an awk program only reads its input and prints. */
export function awkOnlyReads(program: string): boolean {
  if (program.length > 2_000) return false
  // strings and patterns are data; a slash after a value is a division, which leaves at most too little
  const code = program.replaceAll(/"(?:[^"\\\n]|\\.)*"/g, '""').replaceAll(/(^|[\s(,{;!~&|])\/(?:[^/\\\n]|\\.)*\//g, '$1//')
  if (/\b(system|getline|close|fflush|ENVIRON|PROCINFO|ARGV)\b|@/.test(code)) return false
  return !/(^|[^|])\|([^|]|$)/.test(code) && !/>(?!=)/.test(code)
}

/** Whether a jq program keeps to its input. */
export const jqOnlyReads = (program: string): boolean =>
  !/\benv\b|\$ENV|\b(import|include|input_filename|debug|stderr|halt_error)\b|\$__/.test(program)
