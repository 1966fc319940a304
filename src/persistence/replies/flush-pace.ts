/**
 * How far apart flushes begin. A statement costs what ten of its rows do, so a little gathering is cheaper and no later.
 * While the event loop is full they move apart: what gathers for one reply becomes one row, one frame and one write to
 * each reader, which makes room. Without it, 500 replies of 50 tokens a second take turns of 40 ms in which nothing new
 * can begin: their first tokens come after 250 ms.
 */

/** Milliseconds: at least, with time to spare; at most, under any load. */
export const leastPace = 3
export const mostPace = 60

/** How long the loop is watched between two changes (ms). */
const WINDOW_MS = 50

/** Where fewer replies share a flush there is nothing to gain by fewer flushes. */
const CROWD = 32

/** The next pace (ms), for a loop that was busy for this share of the time (0 to 1). */
export function nextPace(pace: number, busy: number): number {
  if (busy > 0.95) return Math.min(mostPace, pace * 1.5)
  if (busy < 0.85) return Math.max(leastPace, pace * 0.8)
  return pace
}

export interface Pace {
  /** The pace of now, in milliseconds. */
  ms(): number
  /** A flush held so many replies. */
  flushed(replies: number): void
}

export function createPace(): Pace {
  let pace = leastPace
  let seen = performance.eventLoopUtilization()
  let checkAt = 0
  return {
    ms: () => pace,
    flushed(replies) {
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
