import { texts } from '../text/index.svelte'
import { toasts } from '../lib/toasts.svelte'

/** Puts text on the clipboard; false, with a word to the person, where the browser refuses. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch (error) {
    toasts.say(texts.m.refusals.other(error instanceof Error ? error.message : String(error)))
    return false
  }
}

/** One listener for the copy buttons of all blocks of code inside `box`. */
export function copiesCode(box: HTMLElement): () => void {
  const onClick = (e: MouseEvent): void => {
    const button = e.target instanceof Element ? e.target.closest('[data-copy]') : null
    const code = button?.closest('.code')?.querySelector('code')
    if (!button || !code) return
    void copyText(code.textContent).then((done) => {
      if (!done) return
      button.textContent = texts.m.common.copied
      setTimeout(() => {
        button.textContent = texts.m.common.copy
      }, 1_500)
    })
  }
  box.addEventListener('click', onClick)
  return () => {
    box.removeEventListener('click', onClick)
  }
}
