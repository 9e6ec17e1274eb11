// What the person wants, sent to the app. Each intent says in the window's language when it did not work; the view changes only by events.
import type { Mode } from '../../../shared/policy'
import type { Answer, InboxItem } from '../../../shared/session'
import { texts } from '../text/index.svelte'
import { AGAIN, type Api, codeOf } from './api'
import { newId } from './id'
import { toasts } from './toasts.svelte'

/** What became of an answer. `refused`: the rule that it would store goes too far or does not fit, so nothing happened; `why` says it in English. */
export type Answered = { readonly kind: 'taken' | 'failed' } | { readonly kind: 'refused'; readonly why: string }

export class Intents {
  readonly api: Api

  constructor(api: Api) {
    this.api = api
  }

  /** True when the app took the message. `itemId` stays the same when the same words are sent again; `kind` counts while a run is going on. */
  prompt = (sessionId: string, text: string, itemId: string, kind: InboxItem['kind'] = 'follow-up'): Promise<boolean> =>
    this.#try(() => this.api.run.prompt({ sessionId, text, itemId, kind }, AGAIN))
  /** Sends other words from the same point: a new branch beside the old message. */
  resend = (sessionId: string, text: string, parentId: string | null): Promise<boolean> =>
    this.#try(() => this.api.run.prompt({ sessionId, text, itemId: newId(), parentId }, AGAIN))
  retry = (sessionId: string): Promise<boolean> => this.#try(() => this.api.run.retry({ sessionId }))
  stop = (sessionId: string): Promise<boolean> => this.#try(() => this.api.run.stop({ sessionId }, AGAIN))
  /** Stops one call; the run goes on. */
  cancelCall = (sessionId: string, callId: string): Promise<boolean> =>
    this.#try(() => this.api.run.cancelCall({ sessionId, callId }, AGAIN))
  stopJob = (jobId: string): Promise<boolean> => this.#try(() => this.api.jobs.stop({ jobId }, AGAIN))
  setMode = (sessionId: string, mode: Mode): Promise<boolean> => this.#try(() => this.api.sessions.setMode({ sessionId, mode }))
  revoke = (grantId: string): Promise<boolean> => this.#try(() => this.api.policy.revoke({ grantId }, AGAIN))
  /** To the newest end below an entry. */
  goTo = (sessionId: string, entryId: string | null): Promise<boolean> =>
    this.#try(() => this.api.run.goTo({ sessionId, entryId, leaf: true }))
  editQueued = (sessionId: string, itemId: string, change: { text?: string; kind?: InboxItem['kind'] }): Promise<boolean> =>
    this.#try(() => this.api.queue.edit({ sessionId, itemId, ...change }))
  /** Before another waiting message. */
  moveQueued = (sessionId: string, itemId: string, before: string | null): Promise<boolean> =>
    this.#try(() => this.api.queue.move({ sessionId, itemId, before }))
  release = (sessionId: string): Promise<boolean> => this.#try(() => this.api.queue.release({ sessionId }))
  bin = (sessionId: string): Promise<boolean> => this.#try(() => this.api.sessions.bin({ sessionId }))
  restore = (sessionId: string): Promise<boolean> => this.#try(() => this.api.sessions.restore({ sessionId }))
  purge = (sessionId: string): Promise<boolean> => this.#try(() => this.api.sessions.purge({ sessionId }))
  setModel = (sessionId: string, model: string): Promise<boolean> => this.#try(() => this.api.sessions.setModel({ sessionId, model }))
  rename = (sessionId: string, title: string): Promise<boolean> => this.#try(() => this.api.sessions.rename({ sessionId, title }))
  archive = (sessionId: string, archived: boolean): Promise<boolean> => this.#try(() => this.api.sessions.archive({ sessionId, archived }))
  refresh = (): Promise<boolean> => this.#try(() => this.api.app.refresh(undefined, AGAIN))
  fetchStarter = (): Promise<boolean> => this.#try(() => this.api.app.fetchStarter())
  restartEngine = (): Promise<boolean> => this.#try(() => this.api.app.restartEngine())

  /** The words that were taken back; undefined when the model has them already. */
  async withdraw(sessionId: string, itemId: string): Promise<string | undefined> {
    let text: string | undefined
    await this.#try(async () => {
      text = (await this.api.queue.withdraw({ sessionId, itemId })).text
    })
    return text
  }

  /** Id of the new session, or of a new tour in the language of the window; undefined when there is none. */
  async create(tour = false): Promise<string | undefined> {
    let id: string | undefined
    await this.#try(async () => {
      id = (await this.api.sessions.create(tour ? { tour: texts.language } : {})).id
    })
    return id
  }

  async answer(sessionId: string, approvalId: string, answer: Answer): Promise<Answered> {
    try {
      await this.api.run.answer({ sessionId, approvalId, answer })
      return { kind: 'taken' }
    } catch (error) {
      if (codeOf(error) === 'UNUSABLE') return { kind: 'refused', why: (error as Error).message }
      this.#say(error)
      return { kind: 'failed' }
    }
  }

  async #try(act: () => Promise<unknown>): Promise<boolean> {
    try {
      await act()
      return true
    } catch (error) {
      this.#say(error)
      return false
    }
  }

  #say(error: unknown): void {
    const { refusals } = texts.m
    const code = codeOf(error)
    toasts.say(code === undefined ? refusals.cut : (refusals.byCode[code] ?? refusals.other((error as Error).message)))
  }
}
