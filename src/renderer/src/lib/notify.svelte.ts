// Whether the system may tell the person that Tau waits: the browser's permission, and the person's own choice.
const KEY = 'tau.notify'

/** `missing`: this browser knows no notifications. `blocked`: it refuses them. */
type NotifyState = 'on' | 'off' | 'blocked' | 'missing'

const read = (): NotifyState => {
  if (typeof Notification === 'undefined') return 'missing'
  if (Notification.permission === 'denied') return 'blocked'
  return Notification.permission === 'granted' && localStorage.getItem(KEY) !== 'off' ? 'on' : 'off'
}

class Notify {
  state = $state<NotifyState>(read())

  /** Asks the browser when it has not been asked; only a click may begin this. */
  async turnOn(): Promise<void> {
    if (typeof Notification === 'undefined') return
    localStorage.removeItem(KEY)
    if (Notification.permission === 'default') await Notification.requestPermission()
    this.state = read()
  }

  turnOff(): void {
    localStorage.setItem(KEY, 'off')
    this.state = read()
  }

  /** Shows a notification; one with the same `tag`, of another window too, is replaced. Undefined where that is not possible. */
  show(title: string, body: string, tag: string, onclick: () => void): Notification | undefined {
    if (this.state !== 'on') return undefined
    try {
      const shown = new Notification(title, { body, tag })
      shown.onclick = () => {
        window.focus()
        shown.close()
        onclick()
      }
      return shown
    } catch {
      this.state = 'missing' // some browsers have the class and allow no page to use it
      return undefined
    }
  }
}

export const notify = new Notify()
