// Pi's session file: 10,000 messages stored, then opened and turned into the context of the next request.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SessionManager } from '@earendil-works/pi-coding-agent'
import { messageAt } from './session.mjs'

export async function storedSession(count) {
  const dir = mkdtempSync(join(tmpdir(), 'pi-store-'))
  const manager = SessionManager.create(dir, dir)
  for (let i = 0; i < count; i++) manager.appendMessage(messageAt(i))
  const file = manager.getSessionFile()
  return {
    open() {
      const start = performance.now()
      const { messages } = SessionManager.open(file).buildSessionContext()
      const ms = performance.now() - start
      if (messages.length !== count) throw new Error(`the context holds ${messages.length} messages`)
      return ms
    },
    remove() {
      rmSync(dir, { recursive: true, force: true })
    }
  }
}
