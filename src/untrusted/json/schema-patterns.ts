/**
 * Regular expressions of other dialects in JSON Schemas (contract section 35). JSON Schema means JavaScript's with the
 * flag `u`; authors write those of Python, PCRE and POSIX too.
 */
import { isObject } from '../is-object.ts'
import { withSubschemas } from './subschemas.ts'

type Schema = Readonly<Record<string, unknown>>

/** Escapes of letters that mean something without `u` too. */
const MEANT = /^(?:[bBdDsSwWfnrtvcxk]|u(?!\{))/
const POSIX_CLASS = /\[:\^?[a-z]+:\]/

/** Returns the regular expression that a pattern means. Null when it is none of JavaScript's. */
export function patternOf(pattern: string): RegExp | null {
  const strict = compiled(pattern, 'u')
  if (strict !== null) return strict
  // Without `u` these are letters and brackets, which no author means: `\Z` is the end of the text elsewhere.
  const escapes = Array.from(pattern.matchAll(/\\./gs), ({ index }) => pattern.slice(index + 1, index + 3))
  const isForeign = escapes.some((one) => /^[a-z]/i.test(one) && !MEANT.test(one))
  return isForeign || POSIX_CLASS.test(pattern) ? null : compiled(pattern, '')
}

function compiled(pattern: string, flags: string): RegExp | null {
  try {
    return new RegExp(pattern, flags)
  } catch {
    return null
  }
}

const isBroken = (pattern: unknown): pattern is string => typeof pattern === 'string' && patternOf(pattern) === null

/**
 * Returns a schema without the keywords that cannot be applied: patterns of other dialects, and the `required` of one
 * property, which is draft-03's. `leftOut` is called for each.
 */
export function applicable(schema: Schema, leftOut: (what: string) => void = () => {}): Record<string, unknown> {
  const { required, pattern, patternProperties } = schema
  const names = isObject(patternProperties) ? Object.keys(patternProperties) : []
  const broken = names.filter(isBroken)
  const isDropped = (keyword: string): boolean => {
    if (keyword === 'pattern') return isBroken(pattern)
    if (keyword === 'required') return typeof required === 'boolean'
    // Properties that a name in `patternProperties` was to allow are not refused.
    return broken.length > 0 && (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties')
  }
  if (isDropped('pattern')) leftOut(`pattern ${JSON.stringify(pattern)}`)
  if (isDropped('required')) leftOut(`required: ${required}`)
  for (const name of broken) leftOut(`patternProperties ${JSON.stringify(name)}`)
  const read = (keyword: string, value: unknown): unknown => {
    const isFiltered = keyword === 'patternProperties' && isObject(value)
    const fit = isFiltered
      ? Object.fromEntries(Object.entries(value).filter(([name]) => !broken.includes(name)))
      : value
    return withSubschemas(keyword, fit, (one) => applicable(one, leftOut))
  }
  const kept = Object.entries(schema).filter(([keyword]) => !isDropped(keyword))
  return Object.fromEntries(kept.map(([keyword, value]) => [keyword, read(keyword, value)]))
}

/** Returns a warning that names the keywords of a schema that are not applied. Null when all are. */
export function patternWarning(schema: Schema | null): string | null {
  const found = new Set<string>()
  if (schema !== null) applicable(schema, (what) => found.add(what.slice(0, 100)))
  if (found.size === 0) return null
  const shown = [...found].slice(0, 5).join(', ')
  const more = found.size > 5 ? ` and ${found.size - 5} more` : ''
  return `Not applied, as it is no regular expression of JavaScript or no keyword here: ${shown}${more}.`
}
