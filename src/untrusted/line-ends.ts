/** Characters that end a line to some readers of events and lines, and not by the standards of either. */
const LINE_ENDS = /[\u2028\u2029\u0085]/g

/**
 * Escapes U+2028, U+2029 and U+0085 in JSON, or in events whose data is JSON (contract section 35). Python's usual clients
 * cut a line there.
 */
export const withEscapedLineEnds = (json: string): string =>
  json.replace(LINE_ENDS, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
