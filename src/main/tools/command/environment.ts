// What a command gets of Tau's own environment: what programs need to run, and no keys (spec G3).
const KEEP =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|COLORTERM|TMPDIR|TEMP|TMP|EDITOR|VISUAL|HOSTNAME|PWD|XDG_[A-Z_]+_(HOME|DIRS)|JAVA_HOME|GOPATH|GOROOT|GOCACHE|GOMODCACHE|CARGO_HOME|RUSTUP_HOME|NVM_DIR|PYENV_ROOT|VIRTUAL_ENV|CONDA_PREFIX|NODE_ENV|NODE_PATH|npm_config_cache|SystemRoot|SYSTEMROOT|ComSpec|PATHEXT|WINDIR|APPDATA|LOCALAPPDATA|USERPROFILE|ProgramFiles|ProgramData|https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY|SSL_CERT_FILE|SSL_CERT_DIR|NODE_EXTRA_CA_CERTS)$/

export function commandEnvironment(own: NodeJS.ProcessEnv, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const kept = Object.entries(own).filter(
    (entry): entry is [string, string] => KEEP.test(entry[0]) && entry[1] !== undefined && !withPassword(entry[1])
  )
  return {
    ...Object.fromEntries(kept),
    TERM: 'dumb',
    // nothing may wait for a person who cannot see it
    PAGER: 'cat',
    GIT_PAGER: 'cat',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    ...more
  }
}

/** An address with a password in it: a proxy's, say. */
const withPassword = (value: string): boolean => /\/\/[^/@\s]+:[^/@\s]+@/.test(value)
