/** JSON Schemas within a JSON Schema. */
import { isObject } from '../is-object.ts'

/** Keywords that hold values, in which nothing is a keyword. */
const valued = new Set(['enum', 'const', 'default', 'examples'])
/** Keywords that hold schemas by names, which are no keywords. */
const naming = new Set(['properties', 'patternProperties', 'definitions', '$defs', 'dependencies', 'dependentSchemas'])

/** Returns the value of a keyword with each schema in it changed. */
export function withSubschemas(
  keyword: string,
  value: unknown,
  change: (schema: Record<string, unknown>) => unknown,
): unknown {
  const within = (one: unknown): unknown => (Array.isArray(one) ? one.map(within) : isObject(one) ? change(one) : one)
  if (valued.has(keyword)) return value
  if (!naming.has(keyword) || !isObject(value)) return within(value)
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, within(one)]))
}
