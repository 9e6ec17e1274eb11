// Secrets are masked in what a model reads; what it writes back must not put the mask in the place of the secret.
import type { ToolOutput } from '../../loop/tool'

const MARK = /\[secret masked[^\]]*\]/g

/** Whether new text holds a mask that the file itself does not hold. */
export function holdsMask(fresh: string, before: string): boolean {
  return (fresh.match(MARK) ?? []).some((mark) => !before.includes(mark))
}

export const MASKED: ToolOutput = {
  code: 'masked_secret',
  text:
    'The text holds "[secret masked …]", which stands for a secret that you were not shown. Nothing was written. ' +
    'Use edit_file on the lines around it, so that the secret stays as it is.'
}
