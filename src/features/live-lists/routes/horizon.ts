/** How far the numbers of changes are settled (contract section 22): ids of streams rise in the order of commits. */
import { pause } from '../../../async/pause.ts'
import type { Horizon as Reading } from '../store/session-changes.ts'

/** A position is waited for so long: writers take milliseconds, but for the deletion of many sessions. */
const POSITION_MS = 1000

export interface Horizon {
  /** Resolves after a reading that began after the call. */
  advance(): Promise<void>
  /** Returns the number up to which everything is visible that ever will be. Null when that is not known yet. */
  safe(): number | null
  /** Returns the number up to which numbers had been given out at the last reading. */
  newest(): number
  /** Returns how often numbers were found to be given out anew: the database is one that has lost changes. */
  falls(): number
  /** Waits until all is settled that was given out before the call, for 1 s at most; then see `safe`. */
  position(): Promise<number | null>
}

export function createHorizon(read: () => Promise<Reading>): Horizon {
  let safe: number | null = null
  let newest = 0
  let falls = 0
  let earlier: Reading | null = null
  let running: Promise<void> | null = null
  let next: Promise<void> | null = null

  async function readOnce(): Promise<void> {
    const now = await read()
    if (now.given < newest) {
      falls += 1
      safe = null
      earlier = null
    }
    newest = now.given
    if (now.writers.length === 0) {
      safe = Math.max(safe ?? 0, now.given)
      earlier = null
    } else if (earlier === null || !earlier.writers.some((writer) => now.writers.includes(writer))) {
      if (earlier !== null) safe = Math.max(safe ?? 0, earlier.given)
      earlier = now
    }
  }

  /** Resolves after a reading that began after the call. Readings come one after the other: a comparison has an order. */
  function advance(): Promise<void> {
    if (running === null) {
      running = readOnce().finally(() => {
        running = null
      })
      return running
    }
    next ??= running
      .catch(() => {}) // told to its own callers
      .then(() => {
        next = null
        return advance()
      })
    return next
  }

  return {
    advance,
    safe: () => safe,
    newest: () => newest,
    falls: () => falls,
    async position() {
      const deadline = performance.now() + POSITION_MS
      await advance()
      const wanted = newest
      for (let wait = 2; (safe ?? -1) < wanted && performance.now() < deadline; wait = Math.min(wait * 2, 50)) {
        await pause(wait)
        await advance()
      }
      return safe
    },
  }
}
