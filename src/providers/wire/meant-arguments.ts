/** The intended arguments of a call, where the text is no one object (contract section 25). Pure. */
import { isObject } from '../../untrusted/is-object.ts'
import { parseArguments } from './provider-json.ts'

/** Returns arguments as text. Some servers send the object. */
export const argumentsIn = (value: unknown): string =>
  typeof value === 'string' ? value : isObject(value) ? JSON.stringify(value) : ''

/**
 * Returns the intended arguments. Some models write `{}` or `null` before the real arguments, some repeat the whole
 * object. One object is meant then. Other texts stay unchanged: the tool's own check tells the model the error.
 */
export function meantArguments(text: string): string {
  const trimmed = text.trim().replace(/^(?:null\s*)+(?=\{|$)/, '')
  if (trimmed === '') return '{}'
  if (parseArguments(trimmed) !== null) return trimmed
  const objects = objectsIn(trimmed)
  if (objects === null) return trimmed
  const distinct = [...new Set(objects.filter((object) => object !== '{}'))]
  return distinct.length > 1 ? trimmed : (distinct[0] ?? '{}')
}

/** Normalizes arguments for comparison, regardless of spacing and the order of keys. */
export function meaningOf(text: string): string {
  const meant = meantArguments(text)
  const value = parseArguments(meant)
  return value === null ? meant : JSON.stringify(value, sorted)
}

const sorted = (_: string, value: unknown): unknown =>
  isObject(value)
    ? Object.fromEntries(
        Object.keys(value)
          .sort()
          .map((key) => [key, value[key]]),
      )
    : value

/** Splits a text of consecutive objects, each in a normal form. Returns null for any other text. */
function objectsIn(text: string): string[] | null {
  const objects: string[] = []
  let rest = text
  while (rest !== '') {
    const length = lengthOfObject(rest)
    const object = length === null ? null : parseArguments(rest.slice(0, length))
    if (length === null || !isObject(object)) return null
    objects.push(JSON.stringify(object))
    rest = rest.slice(length).trimStart()
  }
  return objects
}

/** Returns the length of the first object. Null when the text does not begin with a whole one. */
function lengthOfObject(text: string): number | null {
  const scan = scanObject()
  for (let at = 0; at < text.length; at++) {
    if (scan(text.charAt(at))) return at + 1
    if (at === 0 && text.charAt(0) !== '{') return null
  }
  return null
}

/**
 * Creates a scanner that returns after each piece whether all pieces together are one closed object. Parsing them anew
 * each time would be quadratic.
 */
export function scanObject(): (text: string) => boolean {
  let depth = 0
  let begun = false
  let inString = false
  let escaped = false
  return (text) => {
    for (const char of text) {
      if (escaped) escaped = false
      else if (inString) {
        if (char === '\\') escaped = true
        else if (char === '"') inString = false
      } else if (char === '"') inString = true
      else if (char === '{' || char === '[') {
        depth += 1
        begun = true
      } else if (char === '}' || char === ']') depth -= 1
    }
    return begun && depth <= 0 && !inString
  }
}
