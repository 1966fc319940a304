/** What an answer's events may hold beside the answer, where a server tells parts of the request in them again. */
import type { JsonBounds } from '../../untrusted/json-bounds.ts'
import { eventBounds, parse } from './provider-json.ts'

/** Both are worked out when an event is beyond what it may be without. */
export interface Repeated {
  /** Characters that an event may have more. */
  length(): number
  /** The limit of such an event. */
  bounds(): JsonBounds
}

/** Values of one event, what it repeats included: they take 240 ms at worst. No context window holds as many of tools. */
const MAX_VALUES = 80_000

/** Null means that the event holds no JSON, or more than it may. */
export const parseEvent = (data: string, repeated: Repeated | undefined): unknown =>
  parse(data) ?? (repeated ? parse(data, repeated.bounds()) : null)

/** `parts`: of the request. Their marks are counted within texts, too: never fewer than their values. */
export function repeating(parts: () => unknown): Repeated {
  let known: { length: number; values: number } | undefined
  const measured = () => {
    if (known) return known
    const text = JSON.stringify(parts())
    known = { length: text.length, values: text.match(/[,[{]/g)?.length ?? 0 }
    return known
  }
  return {
    length: () => measured().length,
    bounds: () => ({ ...eventBounds, values: Math.min(eventBounds.values + measured().values, MAX_VALUES) }),
  }
}
