import type { SessionHandle } from '../../src/main/session/session'
import { toArray } from '../../src/shared/list'
import type { Message } from '../../src/shared/message'
import { viewOf } from '../../src/shared/snapshot'
import { messageEntries } from '../../src/shared/tree'

/** The messages of a session's path, oldest first. */
export const messagesOf = (session: SessionHandle): Message[] =>
  messageEntries(toArray(viewOf(session.snapshot()).tree.path)).map((entry) => entry.message)
