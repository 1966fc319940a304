/**
 * The two tiers of tests. `npm test` runs the short one: everything that a contributor has to know before a change lands.
 * `npm run test:long` runs the long one: files named `*.long.test.ts`, and the remaining members of each matrix.
 */

export type Tier = 'short' | 'long'

export const tier: Tier = process.env.TEST_TIER === 'long' ? 'long' : 'short'

/** Returns a matrix's members in this tier: the first one in the short tier, the others in the long one. */
export const inTier = <Member>([first, ...others]: readonly [Member, ...Member[]]): readonly Member[] =>
  tier === 'short' ? [first] : others

/**
 * Returns a judge of the cells of a matrix, by the indexes of row and column. The long tier takes all of them. The short one
 * takes one of `of` in each row and each column, which are not fewer.
 */
export const cellInTier =
  (of: number) =>
  (row: number, column: number): boolean =>
    tier === 'long' || (row + column) % of === 0

export const isLongFile = (file: string): boolean => file.endsWith('.long.test.ts')
