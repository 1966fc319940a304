/** The pace of a model's texts, for observers. */
import type { Pace } from '../ports/observer.ts'

export const newPace = (): Pace => ({ firstAt: null, lastAt: 0, texts: 0, longestGapMs: 0 })

/** Notes a text's time. It is called for every text: numbers only. */
export function keepPace(pace: Pace): void {
  const now = performance.now()
  if (pace.firstAt === null) pace.firstAt = now
  else if (now - pace.lastAt > pace.longestGapMs) pace.longestGapMs = now - pace.lastAt
  pace.lastAt = now
  pace.texts += 1
}
