// Short words about an intent that did not work. They leave by themselves; nothing that matters is said here only.
interface Toast {
  readonly id: number
  readonly text: string
}

const STAY_MS = 7_000

class Toasts {
  list = $state.raw<readonly Toast[]>([])
  #last = 0

  say(text: string): void {
    const id = ++this.#last
    this.list = [...this.list.slice(-2), { id, text }]
    setTimeout(() => {
      this.drop(id)
    }, STAY_MS)
  }

  drop(id: number): void {
    this.list = this.list.filter((t) => t.id !== id)
  }
}

export const toasts = new Toasts()
