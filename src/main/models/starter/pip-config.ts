// Where pip would look: people behind company mirrors have told pip already, and need not tell Tau again. Read the way pip does it
// (pip's documentation, "Configuration").
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface PipConfig {
  /** The index that is configured; undefined: pip's own default. */
  readonly indexUrl?: string
  /** Files with certificates that the index may need. */
  readonly certificates: readonly string[]
  /** `no-index` is set: nothing may be asked. */
  readonly noIndex: boolean
}

export interface PipPlace {
  readonly env: NodeJS.ProcessEnv
  readonly platform: NodeJS.Platform
  readonly home: string
  /** Reads a file; undefined when there is none. */
  readonly read?: (path: string) => string | undefined
}

export function readPipConfig({ env, platform, home, read = readText }: PipPlace): PipConfig {
  const settings = new Map<string, string>()
  // later files win, the environment last
  for (const path of configFiles(env, platform, home)) for (const [key, value] of parseIni(read(path) ?? '')) settings.set(key, value)
  const get = (name: string): string | undefined => {
    const inEnv = env[`PIP_${name.toUpperCase().replaceAll('-', '_')}`]
    const found = inEnv ?? settings.get(`download.${name}`) ?? settings.get(`global.${name}`)
    return found === undefined || found === '' ? undefined : found
  }
  const indexUrl = get('index-url')
  const certificate = get('cert')
  return {
    certificates: certificate === undefined ? [] : [certificate],
    noIndex: /^(1|true|yes|on)$/i.test(get('no-index') ?? ''),
    ...(indexUrl !== undefined && { indexUrl })
  }
}

/** Configuration files from the least to the most important. */
function configFiles(env: NodeJS.ProcessEnv, platform: NodeJS.Platform, home: string): string[] {
  const given = env['PIP_CONFIG_FILE']
  // the null device means: no files at all
  if (given === '/dev/null' || given === 'nul') return []
  const windows = platform === 'win32'
  const name = windows ? 'pip.ini' : 'pip.conf'
  const shared = windows
    ? [join(env['ProgramData'] ?? 'C:\\ProgramData', 'pip', name)]
    : platform === 'darwin'
      ? ['/Library/Application Support/pip/pip.conf']
      : [...(env['XDG_CONFIG_DIRS'] ?? '/etc/xdg').split(':').map((dir) => join(dir, 'pip', name)), '/etc/pip.conf']
  const own = [
    join(home, windows ? 'pip' : '.pip', name),
    ...(platform === 'darwin' ? [join(home, 'Library/Application Support/pip', name)] : []),
    windows
      ? join(env['APPDATA'] ?? join(home, 'AppData/Roaming'), 'pip', name)
      : join(env['XDG_CONFIG_HOME'] ?? join(home, '.config'), 'pip', name)
  ]
  const site = env['VIRTUAL_ENV'] === undefined ? [] : [join(env['VIRTUAL_ENV'], name)]
  return [...shared, ...(given === undefined ? own : []), ...site, ...(given === undefined ? [] : [given])]
}

/** `section.key` → value; keys with `_` and `-` are the same. */
function parseIni(text: string): [string, string][] {
  let section = ''
  return text.split(/\r?\n/).flatMap((line): [string, string][] => {
    const head = /^\s*\[(.+?)\]\s*$/.exec(line)?.[1]
    if (head !== undefined) section = head.trim().toLowerCase()
    const [, key, value] = /^([^\s#;=:][^=:]*?)\s*[=:]\s*(.*?)\s*$/.exec(line) ?? []
    return head === undefined && key !== undefined ? [[`${section}.${key.toLowerCase().replaceAll('_', '-')}`, value ?? '']] : []
  })
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
