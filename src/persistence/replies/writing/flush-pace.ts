/**
 * The interval between the starts of flushes. A statement costs as much as ten of its rows, so a short interval is
 * cheaper and no slower. While the event loop is saturated the interval grows: what accumulates for one reply becomes
 * one row, one frame and one write to each reader, which reduces the load. Without it, 500 replies of 50 tokens a
 * second cause turns of 40 ms in which no reply can start: their first tokens come after 250 ms.
 */

/** Milliseconds: the least, and the most under any load. */
export const leastPace = 3
export const mostPace = 60

/** The time for which the loop is observed between two changes (ms). */
const WINDOW_MS = 50

/** If fewer replies share a flush, fewer flushes gain nothing. */
const CROWD = 32

/** Returns the next interval (ms), after the loop was busy for this share of the time (0 to 1). */
export function nextPace(pace: number, busy: number): number {
  if (busy > 0.95) return Math.min(mostPace, pace * 1.5)
  if (busy < 0.85) return Math.max(leastPace, pace * 0.8)
  return pace
}

export function createPace() {
  let pace = leastPace
  let seen = performance.eventLoopUtilization()
  let checkAt = 0
  return {
    /** Returns the present interval, in milliseconds. */
    ms: () => pace,
    /** Takes note of a flush, with the number of its replies. */
    flushed(replies: number): void {
      const now = performance.now()
      if (replies < CROWD) {
        pace = leastPace
        checkAt = 0
      } else if (checkAt === 0) {
        seen = performance.eventLoopUtilization()
        checkAt = now + WINDOW_MS
      } else if (now >= checkAt) {
        pace = nextPace(pace, performance.eventLoopUtilization(seen).utilization)
        seen = performance.eventLoopUtilization()
        checkAt = now + WINDOW_MS
      }
    },
  }
}
