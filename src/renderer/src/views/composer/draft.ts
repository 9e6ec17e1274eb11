// Words that are not sent yet, kept for each session until the tab is closed. Storage may be full or forbidden; then they live in the page only.
const key = (sessionId: string): string => `tau.draft.${sessionId}`

export function readDraft(sessionId: string): string {
  try {
    return sessionStorage.getItem(key(sessionId)) ?? ''
  } catch {
    return ''
  }
}

export function keepDraft(sessionId: string, text: string): void {
  try {
    if (text === '') sessionStorage.removeItem(key(sessionId))
    else sessionStorage.setItem(key(sessionId), text)
  } catch {
    // nothing to do: the text area still holds the words
  }
}
