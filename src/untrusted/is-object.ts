/** Reports whether a parsed value is a JSON object: no array, not null, and no number of `parseExact`. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value)
