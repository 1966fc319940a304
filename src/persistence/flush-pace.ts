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

/** The next pace (ms), for a loop that was busy for this share of the time (0 to 1). */
export function nextPace(pace: number, busy: number): number {
  if (busy > 0.95) return Math.min(mostPace, pace * 1.5)
  if (busy < 0.85) return Math.max(leastPace, pace * 0.8)
  return pace
}

/** The pace of now, in milliseconds. */
export function createPace(): () => number {
  let pace = leastPace
  let seen = performance.eventLoopUtilization()
  let lookAt = performance.now() + WINDOW_MS
  return () => {
    if (performance.now() < lookAt) return pace
    const { utilization } = performance.eventLoopUtilization(seen)
    pace = nextPace(pace, utilization)
    seen = performance.eventLoopUtilization()
    lookAt = performance.now() + WINDOW_MS
    return pace
  }
}
