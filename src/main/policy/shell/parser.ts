// The grammar of bash, as WebAssembly: a line is taken apart by the rules of the language and never matched as text.
import { Language, type Node, Parser } from 'web-tree-sitter'

/** Undefined: the line cannot be parsed at all. */
export type ShellParser = (line: string) => Node | undefined

/** `grammar`: path of tree-sitter-bash.wasm. Rejects when it cannot be loaded. */
export async function loadShellParser(grammar: string): Promise<ShellParser> {
  await Parser.init()
  const parser = new Parser()
  parser.setLanguage(await Language.load(grammar))
  return (line) => parser.parse(line)?.rootNode
}
