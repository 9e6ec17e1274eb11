// Files that hold secrets, by where they are and what they are called.
import { join } from 'node:path'
import picomatch from 'picomatch'
import { isInside, namesIn } from './paths'

/** In the home folder (`~/`) or anywhere. */
const SECRETS = [
  '/etc/shadow',
  '/etc/gshadow',
  '/etc/sudoers',
  '/proc/*/environ',
  '/proc/*/mem',
  '~/.ssh/**',
  '~/.aws/**',
  '~/.azure/**',
  '~/.gnupg/**',
  '~/.kube/**',
  '~/.config/gcloud/**',
  '~/.config/gh/hosts.yml',
  '~/.docker/config.json',
  '~/.netrc',
  '~/.pgpass',
  '~/.my.cnf',
  '~/.npmrc',
  '~/.pypirc',
  '~/.git-credentials',
  '~/.cargo/credentials*',
  '~/.password-store/**',
  '~/.local/share/keyrings/**',
  '~/Library/Keychains/**',
  '~/.mozilla/**',
  '~/.config/{google-chrome,chromium,BraveSoftware}/**',
  '~/.{bash,zsh,python,psql,node_repl}_history',
  '**/.env',
  '**/.env.*',
  '**/.envrc',
  '**/*.pem',
  '**/*.key',
  '**/*.{p12,pfx,jks,keystore,kdbx}',
  '**/id_{rsa,dsa,ecdsa,ed25519}',
  '**/.htpasswd',
  '**/credentials.json',
  '**/secrets.{json,yml,yaml,toml}'
]
const EXCEPT = ['**/.env.{example,sample,template,dist}', '**/*.pub']
/** Names that a pattern of the shell is tried on: it may find them later, though they are not there now. */
const SAMPLES = ['.env', '.env.local', 'id_rsa', 'id_ed25519', 'server.pem', 'server.key', '.netrc', '.npmrc', 'credentials.json']

export interface Secrets {
  /** Whether a real, absolute path is a secret. */
  has(path: string): boolean
  /** A secret that a pattern of the shell may name, there now or likely; `folder` undefined: not known. */
  inGlob(pattern: string, folder: string): string | undefined
  /** The first secret in a folder, looking a little way down. */
  below(folder: string): string | undefined
}

/** `own`: folders that are Tau's own; `shared`: folders in them that are not. */
export function secretsOf(home: string, own: readonly string[], shared: readonly string[]): Secrets {
  const at = (glob: string): string => (glob.startsWith('~/') ? `${home}/${glob.slice(2)}` : glob)
  const options = { dot: true, nocase: true }
  const isSecret = picomatch(SECRETS.map(at), options)
  const isFree = picomatch(EXCEPT.map(at), options)
  const has = (path: string): boolean =>
    (isSecret(path) && !isFree(path)) || (own.some((folder) => isInside(folder, path)) && !shared.some((folder) => isInside(folder, path)))

  return {
    has,
    inGlob(pattern, folder) {
      let matches: (name: string) => boolean
      try {
        matches = picomatch(pattern, { nonegate: true })
      } catch {
        return pattern
      }
      const found = namesIn(folder).find((name) => matches(name) && has(join(folder, name)))
      if (found !== undefined) return join(folder, found)
      if (pattern.replaceAll(/[*?[\]]/g, '').length < 2) return undefined
      const likely = SAMPLES.find((name) => matches(name) && has(join(folder, name)))
      return likely && join(folder, likely)
    },
    below(folder) {
      let left = MAX_LOOKED
      const queue: [string, number][] = [[folder, 0]]
      for (let next = queue.shift(); next && left > 0; next = queue.shift()) {
        const [at, depth] = next
        for (const name of namesIn(at)) {
          if (left-- <= 0) return undefined
          if (has(join(at, name))) return join(at, name)
          if (depth < MAX_DEPTH && !name.includes('.') && name !== 'node_modules') queue.push([join(at, name), depth + 1])
        }
      }
      return undefined
    }
  }
}

/** How far a folder is looked through for secrets: a decision takes less than a millisecond, and what is found deeper is masked. */
const MAX_LOOKED = 300
const MAX_DEPTH = 2
