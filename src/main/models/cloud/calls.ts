// Puts the pieces of tool calls together. Servers of the OpenAI kind leave out the index or the id, repeat one of them for every call, or change
// the id in the middle of a call; collecting by the index alone glues calls together (https://github.com/diegosouzapw/OmniRoute/issues/11044).
import type { OpenCall } from './protocol'

export interface CallPiece {
  readonly index: number | undefined
  readonly id: string
  readonly name: string
  readonly arguments: string
}

export interface CallCollector {
  push(piece: CallPiece): void
  /** In the order in which they began; ids are unique, an empty one means that the server gave none that was. */
  readonly calls: readonly OpenCall[]
}

export function createCallCollector(): CallCollector {
  const calls: OpenCall[] = []
  let current: OpenCall | undefined
  return {
    calls,
    push(piece) {
      const target = ownerOf(piece, calls, current)
      if (target) {
        target.arguments += piece.arguments
        if (target.name === '') target.name = piece.name
        if (target.id === '') target.id = unused(piece.id, calls)
        target.index ??= piece.index
        current = target
      } else {
        current = { ...piece, id: unused(piece.id, calls) }
        calls.push(current)
      }
    }
  }
}

/** The call that a piece goes on with; undefined for a new one. */
function ownerOf(piece: CallPiece, calls: readonly OpenCall[], current: OpenCall | undefined): OpenCall | undefined {
  const byId = piece.id === '' ? undefined : calls.findLast((c) => c.id === piece.id && fitsIndex(c, piece))
  const byIndex = piece.index === undefined ? undefined : calls.findLast((c) => c.index === piece.index)
  const unplaced = piece.index === undefined || current?.index === undefined
  const found = byId ?? byIndex ?? (unplaced ? current : undefined)
  if (!found) return undefined
  const otherId = piece.id !== '' && found.id !== '' && piece.id !== found.id
  // a name begins a call, unless it is said again with each piece of one
  if (piece.name === '') return otherId && !byIndex ? undefined : found
  if (found.name === '') return otherId ? undefined : found
  if (piece.name !== found.name || otherId) return undefined
  if (!byId && piece.index === undefined && isWhole(found.arguments)) return undefined
  return beginsValue(piece.arguments) && isWhole(found.arguments) ? undefined : found
}

const fitsIndex = (call: OpenCall, piece: CallPiece): boolean =>
  call.index === undefined || piece.index === undefined || call.index === piece.index

const beginsValue = (text: string): boolean => /^\s*\{/.test(text)

const unused = (id: string, calls: readonly OpenCall[]): string => (calls.some((c) => c.id === id) ? '' : id)

/** Whether the arguments are a whole object; more would make another. */
export function isWhole(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object'
  } catch {
    return false
  }
}
