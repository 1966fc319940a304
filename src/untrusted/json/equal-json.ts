/** Compares JSON texts by their values: 1.0 is 1, no other numbers are equal, and the order of names does not matter. */
import { isDeepStrictEqual } from 'node:util'
import { parseWith } from '../exact-json.ts'
import { isObject } from '../is-object.ts'
import { namesTwice } from './names-twice.ts'

/** Returns whether two texts are the same JSON value. Text that is no JSON equals nothing. Empty text is an empty object. */
export const isSameJson = (one: string, other: string): boolean => isDeepStrictEqual(comparable(one), comparable(other))

/** A number by its exact decimal value. No object of the text equals it. */
class ExactNumber {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Returns the value of a text, for comparison alone. Models may send empty text for no arguments. */
function comparable(text: string): unknown {
  if (text.trim() === '') return {}
  try {
    return exactValue(text)
  } catch {
    return Symbol('no JSON')
  }
}

const exactValue = (text: string): unknown =>
  parseWith(text, (_, value, { source = '' } = {}) =>
    typeof value === 'number' ? new ExactNumber(decimal(source)) : value,
  )

/** Returns a number's sign, its digits without zeros at their ends, and its exponent. */
function decimal(source: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? []
  const all = (whole + fraction).replace(/^0+/, '')
  const short = all.replace(/0+$/, '')
  return short === '' ? '0' : `${sign}${short}e${Number(exponent) - fraction.length + all.length - short.length}`
}

/** Returns the members of a JSON object, by name, as comparable values. Null: the text is no object, or has a name twice. */
export function membersOf(text: string): ReadonlyMap<string, unknown> | null {
  const value = comparable(text)
  return isObject(value) && !isNumber(value) && !namesTwice(text) ? new Map(Object.entries(value)) : null
}

/** Returns whether all members of the JSON object `wanted` have the same values among these. */
export function sameValues(wanted: string, members: ReadonlyMap<string, unknown>): boolean {
  const own = membersOf(wanted) ?? new Map<string, unknown>()
  return [...own].every(([name, value]) => members.has(name) && isDeepStrictEqual(value, members.get(name)))
}

/** Returns a text that is the same for equal members. */
export const canonical = (members: ReadonlyMap<string, unknown>): string =>
  JSON.stringify(sorted(Object.fromEntries(members)))

/** Returns a text that is the same for texts of one JSON value. Throws for text that is no JSON. */
export const canonicalText = (text: string): string => JSON.stringify(sorted(exactValue(text)))

const isNumber = (value: object): boolean => value instanceof ExactNumber

function sorted(value: unknown): unknown {
  if (value instanceof ExactNumber) return { number: value.text }
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return [value]
  return Object.entries(value)
    .map(([name, member]) => [name, sorted(member)] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1))
}
