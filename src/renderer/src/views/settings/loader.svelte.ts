// Something that a page of settings asks the app for: reading, there, or not to be had.
type Stage<T> = { readonly kind: 'reading' | 'failed' } | { readonly kind: 'there'; readonly value: T }

export class Loader<T> {
  stage = $state.raw<Stage<T>>({ kind: 'reading' })
  readonly #ask: () => Promise<T>
  #asked = 0

  constructor(ask: () => Promise<T>) {
    this.#ask = ask
    void this.read()
  }

  /** Asks again; what is there stays until the answer comes, and a late answer to an earlier question is dropped. */
  read(): Promise<void> {
    return this.take(this.#ask())
  }

  /** Takes what another request brings as the newest value. */
  async take(coming: Promise<T>): Promise<void> {
    const mine = ++this.#asked
    if (this.stage.kind === 'failed') this.stage = { kind: 'reading' }
    try {
      const value = await coming
      if (mine === this.#asked) this.stage = { kind: 'there', value }
    } catch {
      if (mine === this.#asked) this.stage = { kind: 'failed' }
    }
  }
}
