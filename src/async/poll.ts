/** Looks for what somebody waits for, until nobody does. */
import { pause } from './pause.ts'

export interface Poll {
  /** Begins to look, unless it does already. */
  start(): void
  /** Cuts the pause before the next look short. */
  wake(): void
}

/** Returns a poll that calls `look` every `everyMs`, first at once, as long as `isNeeded`. `look` must not reject. */
export function createPoll(everyMs: number, isNeeded: () => boolean, look: () => Promise<void>): Poll {
  let isRunning = false
  let wake = () => {}

  async function run(): Promise<void> {
    isRunning = true
    while (isNeeded()) {
      await look()
      const cut = new AbortController()
      wake = () => cut.abort()
      if (isNeeded()) await pause(everyMs, cut.signal)
    }
    isRunning = false
  }

  return {
    start: () => {
      if (!isRunning) void run()
    },
    wake: () => wake(),
  }
}
