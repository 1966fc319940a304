/** JSON from providers, within bounds. */
import { isWithinBounds } from '../../untrusted/json-bounds.ts'

export type Fields = Record<string, unknown>

/** The limit of one event or answer: a model's longest call holds a hundredth of it. 20,000 values take 60 ms at worst. */
export const eventBounds = { values: 20_000, depth: 200 }

/** The limit of a list of models: OpenRouter's 400 are 30,000 values. */
export const listBounds = { values: 60_000, depth: 20 }

/** Parses JSON within bounds. Returns null when there is no JSON, or too much of it. */
export function parse(data: string, bounds = eventBounds): unknown {
  if (!isWithinBounds(data, bounds)) return null
  try {
    return JSON.parse(data)
  } catch {
    return null
  }
}
