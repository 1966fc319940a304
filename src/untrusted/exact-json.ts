/**
 * JSON whose numbers keep their digits (contract section 35). JavaScript's numbers hold 1917043659912705297 as
 * …300, and write 1.0 as 1.
 */

import { isObject } from './is-object.ts'

declare global {
  /** The part of the platform that TypeScript's library does not declare yet. */
  interface JSON {
    rawJSON(text: string): object
    isRawJSON(value: unknown): boolean
  }
}

interface Source {
  /** The text of a value that is neither an object nor a list. */
  source?: string
}

type Reviver = (this: object, key: string, value: unknown, context?: Source) => unknown

/** The platform's `JSON.parse`, whose reviver also gets the text of each value. */
export const parseWith: (text: string, reviver: Reviver) => unknown = JSON.parse

/** Matches every text with a number that JavaScript writes otherwise, and some other texts. */
const MAY_CHANGE = /[\d.]{16}|\d[eE][+\-\d]|\.\d*0\s*(?:[,\]}]|$)|-0\s*(?:[,\]}]|$)|0\.0{6}/

/**
 * Returns whether a JSON text holds such a number. Numbers are looked at one by one only where the pattern matches: ids
 * and hashes do too, within strings, and a parse that keeps the text of each value takes five times as long.
 */
export const mayChange = (text: string): boolean => MAY_CHANGE.test(text) && holdsChanged(text)

const QUOTE = 0x22
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const BACKSLASH = 0x5c

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE

function holdsChanged(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === MINUS || isDigit(code)) {
      const end = endOfNumber(text, at)
      const written = text.slice(at, end)
      if (String(Number(written)) !== written) return true
      at = end - 1
    }
  }
  return false
}

/** Returns the index of the quotation mark that ends the string, or of the text's end. */
function endOfString(text: string, begin: number): number {
  for (let at = begin + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at++
  }
  return text.length
}

/** Returns the index after the characters of a number. */
function endOfNumber(text: string, begin: number): number {
  let at = begin + 1
  while (at < text.length && '0123456789.eE+-'.includes(text.charAt(at))) at++
  return at
}

const changes = (value: unknown, source: string | undefined): source is string =>
  typeof value === 'number' && source !== undefined && String(value) !== source

/**
 * Parses JSON. A number that JavaScript writes otherwise becomes a raw one, which `JSON.stringify` writes as it was
 * read: an object, which can be passed on and not be reckoned with. Throws as `JSON.parse` does.
 */
export function parseExact(text: string): unknown {
  if (!mayChange(text)) return JSON.parse(text)
  return parseWith(text, (_, value, { source } = {}) => (changes(value, source) ? JSON.rawJSON(source) : value))
}

/** The words for a value in which `holdsExtreme` finds a number. */
export const EXTREME = 'must not hold a number whose exponent has more than three digits'

/**
 * Reports whether a value of `parseExact` holds a number such as 1e5000. PostgreSQL's jsonb writes its digits out, and
 * refuses it from 131,072 of them on.
 */
export function holdsExtreme(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (JSON.isRawJSON(value)) return /e[+-]?0*[1-9]\d{3}/i.test(JSON.stringify(value))
  return Object.values(value).some(holdsExtreme)
}

/** The digits of numbers by the object or list that holds them, and their name in it. */
const digits = new WeakMap<object, Map<string, string>>()

/** Parses JSON into ordinary values, whose digits `writeExact` knows. Throws as `JSON.parse` does. */
export function parseNoted(text: string): unknown {
  if (!mayChange(text)) return JSON.parse(text)
  return parseWith(text, function (key, value, { source } = {}) {
    if (!changes(value, source)) return value
    const known = digits.get(this)
    if (known) known.set(key, source)
    else digits.set(this, new Map([[key, source]]))
    return value
  })
}

/** Returns the digits that are noted for a number in an object or a list of `parseNoted`. */
export const digitsOf = (holder: object, key: string): string | undefined => digits.get(holder)?.get(key)

/** Reports whether digits are noted anywhere in a value. */
export function holdsNoted(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return digits.has(value) || Object.values(value).some(holdsNoted)
}

/** Returns an object of `parseNoted` as `parseExact` reads it: the same one where no digits are noted. */
export function exactObject(noted: Record<string, unknown>): Record<string, unknown> {
  if (!holdsNoted(noted)) return noted
  const exact = parseExact(writeExact(noted))
  return isObject(exact) ? exact : noted
}

/**
 * Writes a value of `parseNoted`, or a part of it that is an object or a list, as JSON with the digits that it had. `indent`: the
 * spaces of each level; on one line without.
 */
export const writeExact = (value: unknown, indent?: number): string =>
  JSON.stringify(
    value,
    function (this: object, key, one: unknown) {
      const source = typeof one === 'number' ? digitsOf(this, key) : undefined
      return source === undefined ? one : JSON.rawJSON(source)
    },
    indent,
  )
