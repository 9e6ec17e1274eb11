// Light and dark: the system's choice, unless the person made one.
export type Look = 'system' | 'light' | 'dark'

const KEY = 'tau.look'
const isLook = (value: string | null): value is Look => value === 'system' || value === 'light' || value === 'dark'

class Theme {
  look = $state<Look>('system')

  /** Puts the theme on the page and keeps it in step with the system. */
  start(): void {
    const stored = localStorage.getItem(KEY)
    if (isLook(stored)) this.look = stored
    this.#draw()
    dark().addEventListener('change', () => {
      this.#draw()
    })
  }

  choose(look: Look): void {
    this.look = look
    localStorage.setItem(KEY, look)
    this.#draw()
  }

  #draw(): void {
    const isDark = this.look === 'dark' || (this.look === 'system' && dark().matches)
    document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light'
  }
}

const dark = (): MediaQueryList => window.matchMedia('(prefers-color-scheme: dark)')

export const theme = new Theme()
