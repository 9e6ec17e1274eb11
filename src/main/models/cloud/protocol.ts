// What an answer's events are turned into before a provider's package reads them: events that are valid whatever the server sent, and no call
// before the answer is whole. A package stops at the first odd event, or takes half a call for one.
import type { Json } from '../../../shared/json'
import type { ModelFault } from '../model'

/** Reads one answer. Each method returns events to hand on, in order. */
export interface ProtocolReader {
  /** `data`: the JSON object of an event. */
  push(data: Json, name: string): Json[]
  /** The server said in so many words that it is done, or (`false`) the connection ended. */
  finish(said: boolean): Json[]
  readonly state: AnswerState
}

/** What is known of the answer so far. */
export interface AnswerState {
  /** Nothing more will be read. */
  over: boolean
  /** Why the answer cannot be used; ends it. */
  fault?: ModelFault
  /** Set when the server ended the answer in order. */
  ended?: 'stop' | 'length'
  usageKnown: boolean
}

/** A call while it arrives. */
export interface OpenCall {
  id: string
  index: number | undefined
  name: string
  arguments: string
}
