/** Diagrams in which the library counts up to a number of the source. */

/** Kinds whose numbers are bits, columns, places or rings, each of which is drawn. */
const counting = /^\s*(?:packet|block|radar)(?:-beta)?\b/m

/**
 * Returns whether drawing may take for ever: where the browser runs a frame and its page in one thread, the page would stand
 * still, and no time limit would end it. Texts in quotes are only written.
 */
export const countsTooFar = (source: string): boolean =>
  counting.test(source) && /\d{5}/.test(source.replace(/"[^"]*"/g, '').replace(/#[0-9a-f]{3,8}\b/gi, ''))
