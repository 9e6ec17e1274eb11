import { createSubscriber } from 'svelte/reactivity'

/** The time, read in a component: it then updates every second, and only while something shows it. */
const subscribe = createSubscriber((update) => {
  const timer = setInterval(update, 1_000)
  return () => {
    clearInterval(timer)
  }
})

export function now(): number {
  subscribe()
  return Date.now()
}
