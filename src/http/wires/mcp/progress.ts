/** Progress of a reply for a client that asked for it: numbers, no content (contract section 30). */

const TICK_MS = 1000
/** A client is told at least so often, though nothing new is stored. */
const QUIET_MS = 9000
/** A number that is not told yet must be higher than the last one, though nothing new is stored. */
const LEAST_STEP = 0.001

/** Returns the number to be told now. Null when nothing is to be told. */
export function nextProgress(told: number, figure: number, quietMs: number): number | null {
  if (figure > told) return figure
  return quietMs >= QUIET_MS ? told + LEAST_STEP : null
}

/** Tells of the beginning, and then of what `figure` returns, until it is disposed of. */
export function startProgress(tell: (progress: number) => void, figure: () => number): Disposable {
  let told = 0
  let toldAt = performance.now()
  tell(told)
  const timer = setInterval(() => {
    const now = performance.now()
    const next = nextProgress(told, figure(), now - toldAt)
    if (next === null) return
    told = next
    toldAt = now
    tell(told)
  }, TICK_MS)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
