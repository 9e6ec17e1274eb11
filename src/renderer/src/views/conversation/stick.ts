// Who owns the scroll position: the reader. The view follows the end only while the reader is there; the slightest scroll up lets go, and
// only a scroll down to the end takes hold again.
const NEAR_PX = 48
const AFTER_LETTING_GO_MS = 250
/** A move down is clamped to the end that was there when the browser drew it; where text grows fast, that end is history on arrival. */
const RECENT_MS = 600
const UP_KEYS = new Set(['PageUp', 'Home', 'ArrowUp'])

export interface Stick {
  /** Goes to the end and follows it from there. */
  readonly toEnd: () => void
  /** Stops following: the reader looks at something else. */
  readonly letGo: () => void
  readonly destroy: () => void
}

/** `box` scrolls, `inner` grows. `onChange` hears whether the end is followed. */
export function stickToEnd(box: HTMLElement, inner: HTMLElement, onChange: (following: boolean) => void): Stick {
  let following = true
  let letGoAt = 0
  let last = box.scrollTop
  const set = (value: boolean): void => {
    if (value === following) return
    following = value
    onChange(value)
  }
  const letGo = (): void => {
    letGoAt = performance.now()
    set(false)
  }
  const distance = (): number => box.scrollHeight - box.clientHeight - box.scrollTop
  const onSize = (): void => {
    noteEnd()
    follow()
  }
  const follow = (): void => {
    if (!following) return
    box.scrollTop = box.scrollHeight
    last = box.scrollTop
  }
  let ends: { readonly top: number; readonly at: number }[] = []
  const noteEnd = (): void => {
    const at = performance.now()
    ends = [...ends.filter((e) => at - e.at < RECENT_MS), { top: box.scrollHeight - box.clientHeight, at }]
  }
  const arrived = (): boolean =>
    distance() < NEAR_PX || ends.some((e) => performance.now() - e.at < RECENT_MS && Math.abs(e.top - box.scrollTop) < 2)
  const onWheel = (e: WheelEvent): void => {
    if (e.deltaY < 0 && box.scrollHeight > box.clientHeight) letGo()
  }
  const onKey = (e: KeyboardEvent): void => {
    if (UP_KEYS.has(e.key) && !(e.target instanceof HTMLTextAreaElement)) letGo()
  }
  let touchY = 0
  const onTouch = (e: TouchEvent): void => {
    const y = e.touches[0]?.clientY ?? 0
    if (e.type === 'touchmove' && y > touchY + 2) letGo()
    touchY = y
  }
  const onScroll = (): void => {
    const down = box.scrollTop > last
    const up = box.scrollTop < last - 2
    last = box.scrollTop
    if (down && arrived() && performance.now() - letGoAt > AFTER_LETTING_GO_MS) set(true)
    else if (up && distance() > NEAR_PX && pressed) letGo()
  }
  // dragging the scroll bar
  let pressed = false
  const onPress = (e: PointerEvent): void => {
    pressed = e.type === 'pointerdown' && e.target === box
  }
  const sizes = new ResizeObserver(onSize)
  sizes.observe(inner)
  sizes.observe(box)
  const stop = new AbortController()
  const listen = { passive: true, signal: stop.signal }
  box.addEventListener('wheel', onWheel, listen)
  box.addEventListener('keydown', onKey, listen)
  box.addEventListener('touchstart', onTouch, listen)
  box.addEventListener('touchmove', onTouch, listen)
  box.addEventListener('pointerdown', onPress, listen)
  window.addEventListener('pointerup', onPress, listen)
  box.addEventListener('scroll', onScroll, listen)
  follow()
  return {
    toEnd: () => {
      set(true)
      follow()
    },
    letGo,
    destroy: () => {
      stop.abort()
      sizes.disconnect()
    }
  }
}
