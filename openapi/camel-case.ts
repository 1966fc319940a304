/** Names of the deploy API → those of the management API. */
import type { TProperties } from 'typebox'

/** `created_at` → `createdAt`. */
export const camelCase = (name: string): string => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

/** The same schemas under names in camel case. */
export const camelCased = (properties: TProperties): TProperties =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [camelCase(name), schema]))
