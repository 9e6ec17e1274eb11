// Small programs in the words of a command: those of sed and awk can write files and start programs.

/** Whether a sed script does nothing but choose, print and change lines. What is not plainly so is not. */
export function sedOnlyReads(script: string): boolean {
  // in brackets a delimiter is a letter like any other: with one there, what follows could be read in two ways
  const pattern = (d: string): string => String.raw`(?:[^${d}\\\n[]|\\.|\[\^?\]?[^\]${d}\n]*\])*`
  const text = (d: string): string => String.raw`(?:[^${d}\\\n]|\\.)*`
  const address = String.raw`(?:\d+|\$|/${pattern('/')}/I?)`
  const range = String.raw`(?:${address}(?:\s*[,~]\s*(?:\+?\d+|${address}))?\s*!?)?`
  const change = ['/', '\\|', '#', ','].map((d) => String.raw`s${d}${pattern(d)}${d}${text(d)}${d}[gpiI0-9]*`)
  const body = String.raw`(?:[pdqQnNhHgGxDPl=]|${change.join('|')}|y/${text('/')}/${text('/')}/)`
  return script.length < 2_000 && new RegExp(String.raw`^(?:\s*${range}\s*${body}?\s*(?:[;\n]|$))+$`).test(script)
}

/**
 * Whether an awk program only reads its input and prints. Looked at as it is, strings and patterns too: what is one and what is the other depends
 * on the whole program.
 */
export function awkOnlyReads(program: string): boolean {
  if (program.length > 2_000 || /system|getline|close|fflush|ENVIRON|PROCINFO|ARGV|@/.test(program)) return false
  return !/(^|[^|])\|([^|]|$)/.test(program) && !/>(?!=)/.test(program)
}

/** Whether a jq program keeps to its input. */
export const jqOnlyReads = (program: string): boolean =>
  !/\benv\b|\$ENV|\b(import|include|input_filename|debug|stderr|halt_error)\b|\$__/.test(program)
