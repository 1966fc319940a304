/** Merges the values of a saved form with what was typed while the server answered. */

/** Compares two values of a form: they are JSON. */
export const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Returns the stored values, except for fields that were changed since they were `sent`. */
export function keepTyped<Values extends object>(stored: Values, sent: Values, typed: Values): Values {
  const shown = { ...stored }
  for (const field in typed) if (!isSame(typed[field], sent[field])) shown[field] = typed[field]
  return shown
}
