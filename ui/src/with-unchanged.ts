/** The parts of the answer before that a query keeps. */
import { replaceEqualDeep } from '@tanstack/react-query'
import { holdsNoted, writeExact } from '../../src/untrusted/exact-json.ts'

/**
 * Returns the newer answer with the unchanged parts of the one before, so that only what has changed is drawn again. The
 * parts of one with noted digits are not mixed: a copy has no digits, and numbers that differ in them alone look equal.
 */
export const withUnchanged = (before: unknown, now: unknown): unknown => {
  if (!holdsNoted(before) && !holdsNoted(now)) return replaceEqualDeep(before, now)
  return before !== undefined && writeExact(before) === writeExact(now) ? before : now
}
