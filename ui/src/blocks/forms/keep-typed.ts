/** What a form shows once it is saved: it can be typed into while the server answers. */

/** The form's values are what JSON can say. */
export const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** What is stored, except in the fields that were changed since they were `sent`. */
export function keepTyped<Values extends object>(stored: Values, sent: Values, typed: Values): Values {
  const shown = { ...stored }
  for (const field in typed) if (!isSame(typed[field], sent[field])) shown[field] = typed[field]
  return shown
}
