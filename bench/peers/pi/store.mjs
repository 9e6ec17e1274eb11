// Pi's session file: messages stored, then opened and turned into the context of the next request.
import { SessionManager } from '@earendil-works/pi-coding-agent'
import { freshFolder } from './kit.mjs'
import { messageAt } from './session.mjs'

/** Stores `count` messages of what `said` tells; what comes back opens them once and says how many milliseconds that took. */
export function storeSession(count, said) {
  const dir = freshFolder()
  const manager = SessionManager.create(dir, dir)
  for (let i = 0; i < count; i++) manager.appendMessage(messageAt(i, said))
  const file = manager.getSessionFile()
  return () => {
    const start = performance.now()
    const { messages } = SessionManager.open(file).buildSessionContext()
    const ms = performance.now() - start
    if (messages.length !== count) throw new Error(`the context holds ${messages.length} messages`)
    return ms
  }
}
