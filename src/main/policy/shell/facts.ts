// What a line of the shell would do, as far as it can be known before it runs.

/** Something that a command does. `what`: the simple command, redirection or file it is about, for people and for rules. */
export interface Effect {
  readonly what: string
  /** Words of the simple command for rules: the program by its name, git without its global options; null for a word that is not known. */
  readonly words: readonly (string | null)[]
  /** `read`: a listed program that only reads. `run`: any other. `write`: a redirection to a file. */
  readonly kind: 'read' | 'run' | 'write'
  /** Absolute paths, links followed. */
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  readonly hosts: readonly string[]
  /** It reaches for the network. */
  readonly network: boolean
  /** It would send data of this machine there. */
  readonly sends: boolean
  /** Why it cannot be judged for certain. */
  readonly unsure?: string
  /** Starts other programs, with the rights of another person or outside of what can be seen. */
  readonly wrapper: boolean
}

export interface CommandFacts {
  readonly effects: readonly Effect[]
  /** Why the line as a whole cannot be judged. */
  readonly unsure?: string
}

/** Where a line would run. */
export interface ShellPlace {
  /** Absolute real path. */
  readonly cwd: string
  readonly home: string
}
