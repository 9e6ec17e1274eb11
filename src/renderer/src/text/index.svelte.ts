// The window's language: the browser's, unless the person chose one. Also numbers, sizes and times as that language writes them.
import { en, type Messages } from './en'
import { zh } from './zh'

export const languages = { en, zh } satisfies Record<string, Messages>
export type Language = keyof typeof languages

const KEY = 'tau.language'
const isLanguage = (value: string | null): value is Language => value !== null && value in languages
const preferred = (): Language => {
  const stored = localStorage.getItem(KEY)
  if (isLanguage(stored)) return stored
  return /^zh\b/i.test(navigator.language) ? 'zh' : 'en'
}

class Texts {
  language = $state<Language>(preferred())
  /** The catalog of the language. */
  readonly m: Messages = $derived(languages[this.language])
  readonly #number = $derived(new Intl.NumberFormat(this.m.tag, { maximumFractionDigits: 1 }))
  readonly #percent = $derived(new Intl.NumberFormat(this.m.tag, { style: 'percent' }))
  readonly #clock = $derived(new Intl.DateTimeFormat(this.m.tag, { hour: 'numeric', minute: '2-digit' }))
  readonly #day = $derived(new Intl.DateTimeFormat(this.m.tag, { month: 'short', day: 'numeric' }))
  readonly #full = $derived(new Intl.DateTimeFormat(this.m.tag, { dateStyle: 'medium', timeStyle: 'short' }))

  start(): void {
    this.#mark()
  }

  choose(language: Language): void {
    this.language = language
    localStorage.setItem(KEY, language)
    this.#mark()
  }

  #mark(): void {
    document.documentElement.lang = this.m.tag
  }

  number(value: number): string {
    return this.#number.format(value)
  }

  /** 41K: for sizes that nobody counts one by one. */
  about(value: number): string {
    return new Intl.NumberFormat(this.m.tag, { notation: 'compact', maximumFractionDigits: 0 }).format(value)
  }

  percent(share: number): string {
    return this.#percent.format(Math.floor(share * 100) / 100)
  }

  /** 93 MB, 4.1 GB: thousands, as a file manager counts. */
  bytes(value: number): string {
    const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte']
    const step = Math.min(units.length - 1, value < 1 ? 0 : Math.floor(Math.log10(value) / 3))
    const digits = step < 3 ? 0 : 1
    return new Intl.NumberFormat(this.m.tag, {
      style: 'unit',
      unit: units[step] ?? 'byte',
      unitDisplay: 'short',
      maximumFractionDigits: digits
    }).format(value / 1_000 ** step)
  }

  /** A length of time: 0.4 s, 12 s, 3 min 20 s, 1 h 5 min. */
  duration(ms: number): string {
    if (ms < 9_950) return this.#unit(Math.round(ms / 100) / 10, 'second')
    const s = Math.round(ms / 1_000)
    if (s < 60) return this.#unit(s, 'second')
    const [whole, rest, big, small] =
      s < 3_600
        ? ([Math.floor(s / 60), s % 60, 'minute', 'second'] as const)
        : ([Math.floor(s / 3_600), Math.floor((s % 3_600) / 60), 'hour', 'minute'] as const)
    return rest === 0 ? this.#unit(whole, big) : `${this.#unit(whole, big)} ${this.#unit(rest, small)}`
  }

  #unit(value: number, unit: 'second' | 'minute' | 'hour'): string {
    return new Intl.NumberFormat(this.m.tag, { style: 'unit', unit, unitDisplay: 'narrow', maximumFractionDigits: 1 }).format(value)
  }

  /** The hour for today, else the day. */
  moment(at: number, today = Date.now()): string {
    return new Date(at).toDateString() === new Date(today).toDateString() ? this.#clock.format(at) : this.#day.format(at)
  }

  dateTime(at: number): string {
    return this.#full.format(at)
  }

  notice(code: string): string | undefined {
    return Object.hasOwn(this.m.notices, code) ? this.m.notices[code] : undefined
  }

  /** Why a person is asked, by the code of a decision; undefined when the catalog does not know it. */
  reason(code: string): string | undefined {
    return Object.hasOwn(this.m.approval.reasons, code) ? this.m.approval.reasons[code] : undefined
  }

  /** How a call ended, by its code: some codes mean something else of a tool than of a model. */
  result(code: string): string | undefined {
    return Object.hasOwn(this.m.results, code) ? this.m.results[code] : this.fault(code)
  }

  /** A sentence for a fault's code; undefined when the catalog does not know it. */
  fault(code: string): string | undefined {
    return Object.hasOwn(this.m.faults, code) ? this.m.faults[code] : undefined
  }
}

export const texts = new Texts()
