// What every view may need, handed down once by the shell.
import { createContext } from 'svelte'
import type { AppView } from './app-state.svelte'
import type { Intents } from './intents'

export interface Window {
  readonly state: AppView
  readonly intents: Intents
}

export const [useWindow, setWindow] = createContext<Window>()
