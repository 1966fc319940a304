/** Heights of bars. Pure. */

/** The least height of a bar, in percent: one failure beside an hour of a thousand is seen, too. */
const LEAST = 20

/** Returns the height of a bar on an axis that ends at `most`. */
export const heightOf = (part: number, most: number): string =>
  part === 0 ? '0%' : `${Math.max((100 * part) / most, LEAST)}%`
