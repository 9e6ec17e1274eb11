import { fireEvent } from '@testing-library/svelte'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Stick, stickToEnd } from '../../src/renderer/src/views/conversation/stick'

/** A scrolling box of 100 px, whose content can grow; jsdom has no layout of its own. */
class Box {
  readonly element = document.createElement('section')
  readonly inner = this.element.appendChild(document.createElement('div'))
  height = 1_000
  #top = 0
  grown = (): void => undefined

  constructor() {
    const set = (top: number): void => {
      this.#top = Math.max(0, Math.min(top, this.height - 100))
    }
    const top = (): number => this.#top
    const height = (): number => this.height
    Object.defineProperties(this.element, { scrollHeight: { get: height }, clientHeight: { value: 100 }, scrollTop: { get: top, set } })
  }
  get top(): number {
    return this.#top
  }
  grow(by: number): void {
    this.height += by
    this.grown()
  }
  async scrollTo(top: number): Promise<void> {
    this.element.scrollTop = top
    await fireEvent.scroll(this.element)
  }
}

let box: Box
let stick: Stick
const heard: boolean[] = []
beforeEach(() => {
  box = new Box()
  vi.stubGlobal(
    'ResizeObserver',
    class {
      constructor(grown: () => void) {
        box.grown = grown
      }
      observe = vi.fn()
      disconnect = vi.fn()
    }
  )
  heard.length = 0
  stick = stickToEnd(box.element, box.inner, (following) => heard.push(following))
})
afterEach(() => {
  stick.destroy()
  vi.restoreAllMocks()
})
const later = (ms: number): unknown => vi.spyOn(performance, 'now').mockReturnValue(performance.now() + ms)

// https://github.com/NousResearch/hermes-agent/issues/38272
describe('the reader owns the scroll position', () => {
  it('follows the end as long as the reader is there', () => {
    expect(box.top).toBe(900)
    box.grow(500)
    expect(box.top).toBe(1_400)
  })

  it.each<[string, () => Promise<unknown>]>([
    ['the wheel', () => fireEvent.wheel(box.element, { deltaY: -1 })],
    ['Page Up', () => fireEvent.keyDown(box.element, { key: 'PageUp' })],
    ['Home', () => fireEvent.keyDown(box.element, { key: 'Home' })],
    ['the arrow', () => fireEvent.keyDown(box.element, { key: 'ArrowUp' })]
  ])('lets go at the slightest move up with %s', async (_what, act) => {
    await act()
    box.grow(500)
    expect(box.top).toBe(900)
    expect(heard).toEqual([false])
  })

  it('lets go when the scroll bar is dragged up', async () => {
    await fireEvent.pointerDown(box.element)
    await box.scrollTo(300)
    box.grow(500)
    expect(box.top).toBe(300)
  })

  it('does not mistake a wheel that still rolls out for a wish to follow', async () => {
    await fireEvent.wheel(box.element, { deltaY: -1 })
    await box.scrollTo(890)
    await box.scrollTo(900)
    box.grow(500)
    expect(box.top).toBe(900)
  })

  it('follows again once the reader comes back to the end', async () => {
    await fireEvent.wheel(box.element, { deltaY: -1 })
    await box.scrollTo(500)
    later(1_000)
    await box.scrollTo(700)
    box.grow(100)
    expect(box.top).toBe(700)
    await box.scrollTo(1_000)
    box.grow(100)
    expect(box.top).toBe(1_100)
    expect(heard).toEqual([false, true])
  })

  it('counts the end that was there when the reader set out for it, for the text grows meanwhile', async () => {
    await fireEvent.wheel(box.element, { deltaY: -1 })
    await box.scrollTo(500)
    later(1_000)
    box.grow(300)
    box.grow(700)
    await box.scrollTo(1_100)
    expect(heard).toEqual([false])
    await box.scrollTo(1_200)
    box.grow(100)
    expect(box.top).toBe(2_000)
  })

  it('goes to the end when asked', async () => {
    await fireEvent.wheel(box.element, { deltaY: -1 })
    box.grow(500)
    stick.toEnd()
    expect(box.top).toBe(1_400)
  })
})
