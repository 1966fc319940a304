/** When the newest frames of a reply were shown, by the browser's clock. */

/** Ten seconds of a fast model: longer than any poll takes. */
const MOST = 1000

export interface ShownFrames {
  saw(frame: number): void
  /** Milliseconds since 1970; undefined: not shown, or long ago. */
  shownAt(frame: number): number | undefined
}

export function createShownFrames(): ShownFrames {
  const times = new Map<number, number>()
  return {
    saw(frame) {
      if (times.has(frame)) return
      times.set(frame, Date.now())
      const [oldest] = times.size > MOST ? times.keys() : []
      if (oldest !== undefined) times.delete(oldest)
    },
    shownAt: (frame) => times.get(frame),
  }
}
