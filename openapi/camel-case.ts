/** Names of the deploy API in the case of the management API. */
import type { TProperties } from 'typebox'

/** Returns a name in camel case: `created_at` becomes `createdAt`. */
export const camelCase = (name: string): string => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

/** Returns the same schemas under names in camel case. */
export const camelCased = (properties: TProperties): TProperties =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [camelCase(name), schema]))
