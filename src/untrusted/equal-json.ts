/** Compares JSON texts by their values: 1.0 is 1, no other numbers are equal, and the order of names does not matter. */
import { isDeepStrictEqual } from 'node:util'
import { parseWith } from './exact-json.ts'

/** Returns whether two texts are the same JSON value. Text that is no JSON equals nothing. Empty text is an empty object. */
export const isSameJson = (one: string, other: string): boolean => isDeepStrictEqual(comparable(one), comparable(other))

/** Returns the value of a text, for comparison alone. Models may send empty text for no arguments. */
function comparable(text: string): unknown {
  if (text.trim() === '') return {}
  try {
    return parseWith(text, (_, value, { source = '' } = {}) =>
      typeof value === 'number' ? { number: decimal(source) } : value,
    )
  } catch {
    return Symbol('no JSON')
  }
}

/** Returns a number's sign, its digits without zeros at their ends, and its exponent. */
function decimal(source: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? []
  const all = (whole + fraction).replace(/^0+/, '')
  const short = all.replace(/0+$/, '')
  return short === '' ? '0' : `${sign}${short}e${Number(exponent) - fraction.length + all.length - short.length}`
}
