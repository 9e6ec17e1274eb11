// Enter and input methods. While words are being composed, Enter only picks a candidate. Chromium marks that key (`isComposing`, code 229);
// Safari ends the composition first and sends the key right after it, so an Enter in the same moment still belongs to the composition.
const SAME_MOMENT_MS = 30
/** What browsers report for a key that the input method took. */
const TAKEN = 229

export class EnterKey {
  #composing = false
  #endedAt = -Infinity

  compositionStart = (): void => {
    this.#composing = true
  }
  compositionEnd = (e: Event): void => {
    this.#composing = false
    this.#endedAt = e.timeStamp
  }

  /** True when this key press means "send": Enter alone, and not the Enter that ends a composition. */
  sends(e: KeyboardEvent): boolean {
    if (e.key !== 'Enter' || e.shiftKey || e.altKey) return false
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only sign that some input methods give
    if (e.isComposing || e.keyCode === TAKEN || this.#composing) return false
    return e.timeStamp - this.#endedAt > SAME_MOMENT_MS
  }
}
