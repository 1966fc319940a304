/** The parts of the answer before that a query keeps. */
import { holdsNoted, writeExact } from '../../src/untrusted/exact-json.ts'

/** The way in which the newer of two answers gets the unchanged parts of the one before. */
export type Share = (before: unknown, now: unknown) => unknown

/**
 * Returns a sharing that leaves answers with noted digits whole: a copy has no digits, and numbers that differ in them
 * alone look equal.
 */
export const withUnchanged =
  (share: Share): Share =>
  (before, now) => {
    if (!holdsNoted(before) && !holdsNoted(now)) return share(before, now)
    return before !== undefined && writeExact(before) === writeExact(now) ? before : now
  }
