// Which session the window shows, kept in the address: a reload and the browser's back button find it again.
const read = (): string | undefined => /^#\/s\/([\w-]+)$/.exec(location.hash)?.[1]

class Place {
  sessionId = $state<string | undefined>(read())

  start(): () => void {
    const follow = (): void => {
      this.sessionId = read()
    }
    window.addEventListener('hashchange', follow)
    return () => {
      window.removeEventListener('hashchange', follow)
    }
  }

  go(sessionId: string | undefined): void {
    if (sessionId === this.sessionId) return
    location.hash = sessionId === undefined ? '#/' : `#/s/${sessionId}`
    this.sessionId = sessionId
  }
}

export const place = new Place()
