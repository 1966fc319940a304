/** JSON from providers, within bounds. */
import { parseExact } from '../../untrusted/exact-json.ts'
import { isObject } from '../../untrusted/is-object.ts'
import { isWithinBounds, type JsonBounds } from '../../untrusted/json/json-bounds.ts'

export type Fields = Record<string, unknown>

/** The limit of one event or answer: a model's longest call holds a hundredth of it. 20,000 values take 60 ms at worst. */
export const eventBounds = { values: 20_000, depth: 200 }

/** The limit of a list of models: OpenRouter's 400 are 30,000 values. */
export const listBounds = { values: 60_000, depth: 20 }

/** Fields that hold a call's arguments, with vendors that write them as an object. */
const argumentFields = new Set(['args', 'arguments', 'input'])
const HOLDS_ARGUMENTS = /"(?:args|arguments|input)"\s*:\s*\{/

/** Makes all numbers ordinary ones but those in arguments, which keep their digits. */
function withPlainNumbers(value: unknown): unknown {
  if (JSON.isRawJSON(value)) return Number(JSON.stringify(value))
  if (Array.isArray(value)) return value.map(withPlainNumbers)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      argumentFields.has(name) && isObject(one) ? one : withPlainNumbers(one),
    ]),
  )
}

/**
 * Parses JSON within bounds. Returns null when there is no JSON, or too much of it. Numbers in a call's arguments are
 * those of `parseArguments`.
 */
export const parse = (data: string, bounds = eventBounds): unknown =>
  HOLDS_ARGUMENTS.test(data)
    ? withPlainNumbers(parseWithin(data, parseExact, bounds))
    : parseWithin(data, JSON.parse, bounds)

/** Parses arguments, as `parse` does, to numbers with their digits. */
export const parseArguments = (text: string): unknown => parseWithin(text, parseExact, eventBounds)

function parseWithin(text: string, parser: (text: string) => unknown, bounds: JsonBounds): unknown {
  if (!isWithinBounds(text, bounds)) return null
  try {
    return parser(text)
  } catch {
    return null
  }
}
