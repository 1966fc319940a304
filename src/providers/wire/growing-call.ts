/** A tool call whose arguments arrive in pieces, whichever vendor sends it. */
import type { ToolCall } from '../../actors/ports/index.ts'
import { meaningOf, scanObject } from './meant-arguments.ts'

/** Most characters of arguments in one turn: twice what a model can write in one reply. */
export const MAX_ARGUMENTS = 1024 * 1024
/** Most tool calls of one turn: more than any vendor's models make. */
export const MAX_CALLS = 128

export interface GrowingCall extends ToolCall {
  /** Identity shared by calls that may be repeats of each other. */
  repeatGroup: object
  /** True while the arguments are one closed object. */
  isWhole: boolean
  /** Reads on in the arguments. */
  scan: (text: string) => boolean
}

/** Begins a call without arguments. */
export const beginCall = (id: string, name: string, repeatGroup: object = {}): GrowingCall => ({
  id,
  name,
  arguments: '',
  repeatGroup,
  isWhole: false,
  scan: scanObject(),
})

/** Adds a piece to the call's arguments. */
export function appendTo(call: GrowingCall, text: string): void {
  if (text === '') return
  call.arguments += text
  call.isWhole = call.scan(text)
}

/** Removes calls that repeat another one of their group: with the same arguments, or with `{}` next to real ones. */
export function withoutRepeats<Call extends GrowingCall>(calls: readonly Call[]): readonly Call[] {
  const groups = new Map<object, Map<string, Call>>()
  for (const call of calls) {
    const byMeaning = groups.get(call.repeatGroup) ?? new Map<string, Call>()
    const meaning = meaningOf(call.arguments)
    if (!byMeaning.has(meaning)) byMeaning.set(meaning, call)
    groups.set(call.repeatGroup, byMeaning)
  }
  const kept = new Set<Call>()
  for (const byMeaning of groups.values()) {
    if (byMeaning.size > 1) byMeaning.delete('{}')
    for (const call of byMeaning.values()) kept.add(call)
  }
  return calls.filter((call) => kept.has(call))
}
