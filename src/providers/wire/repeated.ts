/** Larger limits of events for servers that repeat parts of the request in them. */
import type { JsonBounds } from '../../untrusted/json/json-bounds.ts'
import { eventBounds, parse } from './provider-json.ts'

/** The extra room for repeated parts. It is computed only when an event exceeds the ordinary limit. */
export interface Repeated {
  /** Returns the number of additional characters. */
  length(): number
  /** Returns the limit of such an event. */
  bounds(): JsonBounds
}

/**
 * The most values of one event, repeated ones included. They take 240 ms at worst. No context window holds as many of
 * tools.
 */
const MAX_VALUES = 80_000

/** Parses an event. Returns null when it holds no JSON, or too much. */
export const parseEvent = (data: string, repeated: Repeated | undefined): unknown =>
  parse(data) ?? (repeated ? parse(data, repeated.bounds()) : null)

/**
 * Measures parts of the request. Marks within texts are counted too, so the count is never below the number of values.
 */
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
