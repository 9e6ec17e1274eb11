// What a command would send: data of this machine leaves it by the words of programs that reach for the network.
import type { Word } from './words'

/** Hosts that the words name, where they can be told. */
export function hostsOf(words: readonly Word[]): string[] {
  const hosts = words.flatMap(({ value = '' }) => {
    const url = /^(?:[a-z][a-z0-9+.-]*:\/\/)(?:[^/@\s]*@)?(\[[0-9a-f:]+\]|[^/:?#\s]+)/i.exec(value)?.[1]
    const remote = /^(?:[\w.-]+@)?((?:[\w-]+\.)+[\w-]+|localhost)(?::|$)/.exec(value)?.[1]
    return url ?? remote ?? []
  })
  return [...new Set(hosts.map((h) => h.toLowerCase()))]
}

/** Whether a program's words name data of this machine to be sent: a file, or what a nested command prints. */
export function sendsFile(program: string, words: readonly Word[]): boolean {
  const values = words.map((w) => w.value ?? '')
  const after = (pattern: RegExp): string[] => values.flatMap((v, i) => (pattern.test(v) ? [values[i + 1] ?? ''] : []))
  switch (program) {
    case 'curl':
      return (
        values.some((v) => /^(-T|--upload-file|-K|--config)/.test(v)) ||
        values.some((v) => /^(-[a-zA-Z]*[dF]|--(data|json|form)[a-z-]*=?)\S*@/.test(v)) ||
        after(/^(-[a-zA-Z]*[dF]|--(data|json|form|url-query)[a-z-]*)$/).some((v) => /(^|=|^[^=]*)@|=</.test(v)) ||
        after(/^(-[a-zA-Z]*[bH]|--(cookie|header))$/).some((v) => v.startsWith('@') || (v !== '' && !v.includes('=') && !v.includes(':')))
      )
    case 'wget':
      return values.some((v) => /^--(post-file|body-file|input-file)/.test(v))
    case 'scp':
    case 'rsync':
    case 'rclone':
      return /^(?:[\w.-]+@)?[\w.-]+:|^rsync:\/\//.test(values.findLast((v) => !v.startsWith('-')) ?? '')
    case 'http':
    case 'https':
    case 'xh':
      return values.some((v) => /@|:=@|=@/.test(v) && !v.startsWith('http'))
    default:
      return false
  }
}
